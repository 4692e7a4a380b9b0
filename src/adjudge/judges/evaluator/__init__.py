"""The evaluator: a model with tools over the record and the machine, bound by a number of looks."""
