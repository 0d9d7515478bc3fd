"""What `cdk deploy` creates, and the bundle that its functions run. It knows the core by its names (`schema`) alone."""
