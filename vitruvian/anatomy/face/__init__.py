"""The face: head mesh, soft tissue with 44 muscles, lids, jaw, modes, folds, and what makes it look like a person."""

from vitruvian.anatomy.face.face import CHAIN, Face, make_face
from vitruvian.anatomy.face.head_mesh import HeadMesh, head_mesh, shape_names
from vitruvian.anatomy.face.jaw import jaw_pose
from vitruvian.anatomy.face.lids import upper_lid

__all__ = ["CHAIN", "Face", "HeadMesh", "head_mesh", "jaw_pose", "make_face", "shape_names", "upper_lid"]
