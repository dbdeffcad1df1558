"""Bone surfaces: a closed, good-looking triangle surface for every bone of the body, in the bone's own frame.

    surfaces = bone_surfaces(human())          # bone name -> (vertices [m], faces)

Skull, vertebrae, pelvis and limbs are fitted from the `myo-sim` surfaces (see `templates`, `warp`); ribs, cartilages,
sternum, hyoid and thyroid are swept through their joints and muscle attachments (`thorax`, `throat`). Shapes belong
to the tabulated body; a body of another height has them scaled. They are kept in the user's cache folder, since the
fit takes a few seconds.
"""

from vitruvian.anatomy.surfaces.build import CREDIT, bone_surfaces, capsule_surfaces, shown_surfaces, template_surfaces
from vitruvian.anatomy.surfaces.measure import AttachmentDistance, attachment_distances

__all__ = [
    "CREDIT",
    "AttachmentDistance",
    "attachment_distances",
    "bone_surfaces",
    "capsule_surfaces",
    "shown_surfaces",
    "template_surfaces",
]
