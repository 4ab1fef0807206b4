"""One model from many graphs: worlds cut out of them on the fly, and what is held out to judge it by."""
