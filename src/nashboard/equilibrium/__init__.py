"""Who is unbeatable: clones, interior point, maximum entropy, an oracle for huge games, Nash averages."""
