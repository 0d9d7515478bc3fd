"""The whole deployment on this machine: a local AWS, and the real `cdk deploy` to it. README.md says how to use it."""
