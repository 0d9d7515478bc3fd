"""What `cdk deploy` would create, by its templates, and the bundle that its functions run. No account is needed."""
