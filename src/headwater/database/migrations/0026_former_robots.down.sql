drop table former_robots;
