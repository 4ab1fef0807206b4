"""Values that are not recorded, predicted from similar entities with calibrated intervals."""
