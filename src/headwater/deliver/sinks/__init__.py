"""The kinds of sinks that come with Headwater, a file each; `headwater.deliver.kinds` finds them by entry point."""
