"""Names of months. A new language is a word in each line."""

# January first; English, German, French, Spanish, Portuguese, Russian, Arabic.
MONTHS = (
    "january jan januar janvier janv enero ene janeiro января январь يناير",
    "february feb februar fevrier fevr fev febrero fevereiro февраля февраль فبراير",
    "march mar marz maerz mrz mars marzo marco марта март مارس",
    "april apr avril avr abril abr апреля апрель ابريل أبريل",
    "may mai mayo maio мая май مايو",
    "june jun juni juin junio junho июня июнь يونيو",
    "july jul juli juillet juil julio julho июля июль يوليو",
    "august aug aout agosto ago августа август اغسطس أغسطس",
    "september sept sep septembre septiembre setiembre setembro set сентября сентябрь سبتمبر",
    "october oct oktober okt octobre octubre outubro out октября октябрь اكتوبر أكتوبر",
    "november nov novembre noviembre novembro ноября ноябрь نوفمبر",
    "december dec dezember dez decembre diciembre dic dezembro декабря декабрь ديسمبر",
)
# As HTTP and RFC 822 write them, in small letters.
SHORT_MONTHS = tuple(names.split()[0][:3] for names in MONTHS)
