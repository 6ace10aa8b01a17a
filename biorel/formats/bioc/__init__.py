"""Read BioC files in XML or JSON (`reader`), and write them in XML (`writer`)."""
