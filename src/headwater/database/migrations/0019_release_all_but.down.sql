drop function release_all_but;
