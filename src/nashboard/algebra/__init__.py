"""What evaluation data is made of: ratings and cycles (Hodge), planes (Schur), latent skills and problems."""
