"""Line muscles: paths, forces, activation dynamics."""
