package queue_test

func child(string) {}
