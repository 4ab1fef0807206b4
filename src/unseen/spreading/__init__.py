"""Work spread over processes and machines by Ray, which is optional: a crew, and what each command gives it to do."""
