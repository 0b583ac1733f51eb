import unittest

from handler import handle


class HelloTest(unittest.TestCase):
    def test_greets_by_name(self):
        self.assertEqual(handle({"name": "Ada"}, None), {"message": "Hello, Ada!"})

    def test_greets_everybody_without_a_name(self):
        self.assertEqual(handle({}, None), {"message": "Hello, world!"})


if __name__ == "__main__":
    unittest.main()
