"""`perdure cost`: what a workload takes of each AWS service, at list price, next to what others ask for it."""
