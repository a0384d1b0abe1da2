"""`headwater sinks`: where documents and vacancies are delivered."""

from cyclopts import App

from headwater.cli.sinks import adding, comparing, managing, showing

app = App(name="sinks", help="Where documents and vacancies are delivered: add, look at, test, verify, rebuild.")
app.command(adding.list_types, name="types")
app.command(adding.add, name="add")
app.command(showing.list_all, name="list")
app.command(showing.show_sink, name="show")
app.command(managing.check, name="test")
app.command(managing.pause, name="pause")
app.command(managing.resume, name="resume")
app.command(managing.retry, name="retry")
app.command(managing.rebuild, name="rebuild")
app.command(comparing.verify, name="verify")
app.command(comparing.retire, name="retire")
app.command(managing.remove, name="rm")
