"""`headwater templates`: the commands of learned page layouts."""
