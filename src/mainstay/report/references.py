"""Full citations of the works that measures, aggregations, rankers and procedures come from.

The keys are the short names in the `reference` of every registry entry, where "; " joins several.
"""

from __future__ import annotations

_JRSS_B = "Journal of the Royal Statistical Society B"
_JMLR = "Journal of Machine Learning Research"
_PAMI = "IEEE Transactions on Pattern Analysis and Machine Intelligence"
_ECML = "Machine Learning and Knowledge Discovery in Databases (ECML PKDD)"

REFERENCES: dict[str, str] = {
    "Bennasar et al. 2015": "Bennasar, M., Hicks, Y. and Setchi, R. (2015). Feature selection "
    "using joint mutual information maximisation. Expert Systems with Applications 42, 8520–8532.",
    "Besag and Clifford 1991": "Besag, J. and Clifford, P. (1991). Sequential Monte Carlo "
    "p-values. Biometrika 78, 301–304.",
    "Bommert and Rahnenführer 2020": "Bommert, A. and Rahnenführer, J. (2020). Adjusted measures "
    "for feature selection stability for data sets with similar features. Machine Learning, "
    "Optimization, and Data Science (LOD 2020), 203–214.",
    "Borda 1781": "Borda, J.-C. de (1781). Mémoire sur les élections au scrutin. Histoire de "
    "l'Académie Royale des Sciences, Paris.",
    "Breiman 2001": "Breiman, L. (2001). Random forests. Machine Learning 45, 5–32.",
    "Carletta 1996": "Carletta, J. (1996). Assessing agreement on classification tasks: the kappa "
    "statistic. Computational Linguistics 22, 249–254.",
    "Climente-González et al. 2019": "Climente-González, H., Azencott, C.-A., Kaski, S. and "
    "Yamada, M. (2019). Block HSIC lasso: model-free biomarker detection for ultra-high "
    "dimensional data. Bioinformatics 35, i427–i435.",
    "Cramér 1946": "Cramér, H. (1946). Mathematical Methods of Statistics. Princeton University "
    "Press.",
    "Davis et al. 2006": "Davis, C. A., Gerick, F., Hintermair, V., Friedel, C. C., Fundel, K., "
    "Küffner, R. and Zimmer, R. (2006). Reliable gene signatures for microarray classification: "
    "assessment of stability and performance. Bioinformatics 22, 2356–2363.",
    "Dice 1945": "Dice, L. R. (1945). Measures of the amount of ecologic association between "
    "species. Ecology 26, 297–302.",
    "Ding and Peng 2005": "Ding, C. and Peng, H. (2005). Minimum redundancy feature selection from "
    "microarray gene expression data. Journal of Bioinformatics and Computational Biology 3, "
    "185–205.",
    "Dunne et al. 2002": "Dunne, K., Cunningham, P. and Azuaje, F. (2002). Solutions to "
    "instability problems with sequential wrapper-based approaches to feature selection. Technical "
    "report, Trinity College, Dublin.",
    "Efron 1979": "Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of "
    "Statistics 7, 1–26.",
    "Fagin et al. 2003": "Fagin, R., Kumar, R. and Sivakumar, D. (2003). Comparing top k lists. "
    "SIAM Journal on Discrete Mathematics 17, 134–160.",
    "Fisher 1925": "Fisher, R. A. (1925). Statistical Methods for Research Workers. Oliver and "
    "Boyd.",
    "Fleuret 2004": "Fleuret, F. (2004). Fast binary feature selection with conditional mutual "
    f"information. {_JMLR} 5, 1531–1555.",
    "Friedman 2001": "Friedman, J. H. (2001). Greedy function approximation: a gradient boosting "
    "machine. Annals of Statistics 29, 1189–1232.",
    "Geurts et al. 2006": "Geurts, P., Ernst, D. and Wehenkel, L. (2006). Extremely randomized "
    "trees. Machine Learning 63, 3–42.",
    "Guyon and Elisseeff 2003": "Guyon, I. and Elisseeff, A. (2003). An introduction to variable "
    f"and feature selection. {_JMLR} 3, 1157–1182.",
    "Hall 1999": "Hall, M. A. (1999). Correlation-based Feature Selection for Machine Learning. "
    "PhD thesis, University of Waikato.",
    "Hamer and Dupont 2021": "Hamer, V. and Dupont, P. (2021). Robust selection stability "
    f"estimation in correlated spaces. {_ECML}.",
    "Jaccard 1901": "Jaccard, P. (1901). Étude comparative de la distribution florale dans une "
    "portion des Alpes et du Jura. Bulletin de la Société Vaudoise des Sciences Naturelles 37, "
    "547–579.",
    "Jurman et al. 2008": "Jurman, G., Merler, S., Barla, A., Paoli, S., Galea, A. and Furlanello, "
    "C. (2008). Algebraic stability indicators for ranked lists in molecular profiling. "
    "Bioinformatics 24, 258–264.",
    "Kalousis et al. 2007": "Kalousis, A., Prados, J. and Hilario, M. (2007). Stability of feature "
    "selection algorithms: a study on high-dimensional spaces. Knowledge and Information Systems "
    "12, 95–116.",
    "Kazemitabar et al. 2017": "Kazemitabar, J., Amini, A., Bloniarz, A. and Talwalkar, A. (2017). "
    "Variable importance using decision trees. Advances in Neural Information Processing Systems "
    "30.",
    "Kendall 1945": "Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika "
    "33, 239–251.",
    "Kendall and Smith 1939": "Kendall, M. G. and Babington Smith, B. (1939). The problem of m "
    "rankings. Annals of Mathematical Statistics 10, 275–287.",
    "Kolde et al. 2012": "Kolde, R., Laur, S., Adler, P. and Vilo, J. (2012). Robust rank "
    "aggregation for gene list integration and meta-analysis. Bioinformatics 28, 573–580.",
    "Kuncheva 2007": "Kuncheva, L. I. (2007). A stability index for feature selection. Artificial "
    "Intelligence and Applications (IASTED), 390–395.",
    "Křížek et al. 2007": "Křížek, P., Kittler, J. and Hlaváč, V. (2007). Improving stability of "
    "feature selection methods. Computer Analysis of Images and Patterns, 929–936.",
    "Lin 2010": "Lin, S. (2010). Rank aggregation methods. Wiley Interdisciplinary Reviews: "
    "Computational Statistics 2, 555–570.",
    "Liu and Setiono 1995": "Liu, H. and Setiono, R. (1995). Chi2: feature selection and "
    "discretization of numeric attributes. Tools with Artificial Intelligence (ICTAI), 388–391.",
    "Lustgarten et al. 2009": "Lustgarten, J. L., Gopalakrishnan, V. and Visweswaran, S. (2009). "
    "Measuring stability of feature selection in biomedical datasets. AMIA Annual Symposium "
    "Proceedings, 406–410.",
    "Meinshausen and Bühlmann 2010": "Meinshausen, N. and Bühlmann, P. (2010). Stability "
    f"selection. {_JRSS_B} 72, 417–473.",
    "Melikechi and Miller 2025": "Melikechi, O. and Miller, J. W. (2025). Integrated path "
    "stability selection. Journal of the American Statistical Association.",
    "Meyer and Bontempi 2006": "Meyer, P. E. and Bontempi, G. (2006). On the use of variable "
    "complementarity for feature selection in cancer classification. Applications of Evolutionary "
    "Computing (EvoWorkshops), 91–102.",
    "Nadeau and Bengio 2003": "Nadeau, C. and Bengio, Y. (2003). Inference for the generalization "
    "error. Machine Learning 52, 239–281.",
    "Nogueira and Brown 2015": "Nogueira, S. and Brown, G. (2015). Measuring the stability of "
    "feature selection with applications to ensemble methods. Multiple Classifier Systems, "
    "135–146.",
    "Nogueira and Brown 2016": "Nogueira, S. and Brown, G. (2016). Measuring the stability of "
    f"feature selection. {_ECML}, 442–457.",
    "Lundberg et al. 2020": "Lundberg, S. M. et al. (2020). From local explanations to global "
    "understanding with explainable AI for trees. Nature Machine Intelligence 2, 56–67.",
    "Nogueira, Sechidis and Brown 2018": "Nogueira, S., Sechidis, K. and Brown, G. (2018). On the "
    f"stability of feature selection algorithms. {_JMLR} 18 (174), 1–54.",
    "Novovičová et al. 2009": "Novovičová, J., Somol, P. and Pudil, P. (2009). A new measure of "
    "feature selection algorithms' stability. IEEE International Conference on Data Mining "
    "Workshops, 382–387.",
    "Ochiai 1957": "Ochiai, A. (1957). Zoogeographical studies on the soleoid fishes found in "
    "Japan and its neighbouring regions III. Nippon Suisan Gakkaishi 22, 531–535.",
    "Onda et al. 2021": "Onda, R., Gao, Z., Kotera, M. and Oono, K. (2021). Fast estimation method "
    "for the stability of ensemble feature selectors. arXiv:2108.01485.",
    "Pedregosa et al. 2011": "Pedregosa, F. et al. (2011). Scikit-learn: machine learning in "
    f"Python. {_JMLR} 12, 2825–2830.",
    "Peng et al. 2005": "Peng, H., Long, F. and Ding, C. (2005). Feature selection based on mutual "
    "information: criteria of max-dependency, max-relevance, and min-redundancy. "
    f"{_PAMI} 27, 1226–1238.",
    "Press et al. 1988": "Press, W. H., Flannery, B. P., Teukolsky, S. A. and Vetterling, W. T. "
    "(1988). Numerical Recipes in C. Cambridge University Press.",
    "Quinlan 1986": "Quinlan, J. R. (1986). Induction of decision trees. Machine Learning 1, "
    "81–106.",
    "Quinlan 1993": "Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.",
    "Saeys et al. 2006": "Saeys, Y., Degroeve, S. and Van de Peer, Y. (2006). Feature ranking "
    "using an EDA-based wrapper approach. Towards a New Evolutionary Computation, Springer, "
    "243–257.",
    "Saeys et al. 2008": "Saeys, Y., Abeel, T. and Van de Peer, Y. (2008). Robust feature "
    f"selection using ensemble feature selection techniques. {_ECML}, 313–325.",
    "Salman et al. 2022": "Salman, R., Alzaatreh, A. and Sulieman, H. (2022). The stability of "
    "different aggregation techniques in ensemble feature selection. Journal of Big Data 9, 51.",
    "Sechidis et al. 2020": "Sechidis, K., Papangelou, K., Nogueira, S., Weatherall, J. and Brown, "
    "G. (2020). On the stability of feature selection in the presence of feature correlations. "
    f"{_ECML}, 327–342.",
    "Seijo-Pardo et al. 2017": "Seijo-Pardo, B., Porto-Díaz, I., Bolón-Canedo, V. and "
    "Alonso-Betanzos, A. (2017). Ensemble feature selection: homogeneous and heterogeneous "
    "approaches. Knowledge-Based Systems 118, 124–139.",
    "Shah and Samworth 2013": "Shah, R. D. and Samworth, R. J. (2013). Variable selection with "
    f"error control: another look at stability selection. {_JRSS_B} 75, 55–80.",
    "Somol and Novovičová 2008": "Somol, P. and Novovičová, J. (2008). Evaluating the stability of "
    "feature selectors that optimize feature subset cardinality. Structural, Syntactic, and "
    "Statistical Pattern Recognition, 956–966.",
    "Somol and Novovičová 2010": "Somol, P. and Novovičová, J. (2010). Evaluating stability and "
    "comparing output of feature selectors that optimize feature subset cardinality. "
    f"{_PAMI} 32, 1921–1939.",
    "Storey and Tibshirani 2003": "Storey, J. D. and Tibshirani, R. (2003). Statistical "
    "significance for genomewide studies. Proceedings of the National Academy of Sciences 100, "
    "9440–9445.",
    "Stuart et al. 2003": "Stuart, J. M., Segal, E., Koller, D. and Kim, S. K. (2003). A "
    "gene-coexpression network for global discovery of conserved genetic modules. Science 302, "
    "249–255.",
    "Tibshirani 1996": "Tibshirani, R. (1996). Regression shrinkage and selection via the lasso. "
    f"{_JRSS_B} 58, 267–288.",
    "Wald et al. 2013": "Wald, R., Khoshgoftaar, T. M. and Napolitano, A. (2013). Stability of "
    "filter- and wrapper-based feature subset selection. Tools with Artificial Intelligence "
    "(ICTAI), 374–380.",
    "Webber et al. 2010": "Webber, W., Moffat, A. and Zobel, J. (2010). A similarity measure for "
    "indefinite rankings. ACM Transactions on Information Systems 28, 20.",
    "Westfall and Young 1993": "Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple "
    "Testing. Wiley.",
    "Yang and Moody 1999": "Yang, H. H. and Moody, J. (1999). Data visualization and feature "
    "selection: new algorithms for nongaussian data. Advances in Neural Information Processing "
    "Systems 12, 687–693.",
    "Yamada et al. 2014": "Yamada, M., Jitkrittum, W., Sigal, L., Xing, E. P. and Sugiyama, M. "
    "(2014). High-dimensional feature selection by feature-wise kernelized lasso. Neural "
    "Computation 26, 185–207.",
    "Yu et al. 2012": "Yu, L., Han, Y. and Berens, M. E. (2012). Stable gene selection from "
    "microarray data via sample weighting. IEEE/ACM Transactions on Computational Biology and "
    "Bioinformatics 9, 262–272.",
    "Yu, Ding and Loscalzo 2008": "Yu, L., Ding, C. and Loscalzo, S. (2008). Stable feature "
    "selection via dense feature groups. Knowledge Discovery and Data Mining (KDD), 803–811.",
    "Zhang et al. 2009": "Zhang, M., Zhang, L., Zou, J., Yao, C., Xiao, H., Liu, Q., Wang, J., "
    "Wang, D., Wang, C. and Guo, Z. (2009). Evaluating reproducibility of differential expression "
    "discoveries in microarray studies by considering correlated molecular changes. "
    "Bioinformatics 25, 1662–1668.",
    "Zucknick et al. 2008": "Zucknick, M., Richardson, S. and Stronach, E. A. (2008). Comparing "
    "the characteristics of gene expression profiles derived by univariate and multivariate "
    "classification methods. Statistical Applications in Genetics and Molecular Biology 7, 7.",
}
