"""The RPCs of the frontend: one module each, with one public function of the same name."""
