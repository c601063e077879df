# Four times as much of any construct takes about four times as long to compile.
python3 ../../bench/compiling.py tally 3/3
