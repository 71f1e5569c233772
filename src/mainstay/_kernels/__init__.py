"""Loops that arrays cannot express: the only folder that imports numba.

Every kernel has a naive twin in the tests that it is compared with.
"""
