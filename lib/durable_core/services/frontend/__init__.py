"""One module per RPC, one public function each. What two of them share stands one level up."""
