"""The contracts, one class a subject. They are collected only through the backends' test modules."""
