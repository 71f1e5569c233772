"""Rows that are read where they are, block by block, because they do not fit into memory."""

from mainstay.batches.rows import BLOCK_ROWS, Block, RowBatches

__all__ = ["BLOCK_ROWS", "Block", "RowBatches"]
