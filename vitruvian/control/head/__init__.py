"""What holds, turns and directs a head (Lee 2008, chapter 4).

`setpoint`    joint angles for a wanted orientation; `solutions` activations that hold it, or stiffen it
"""
