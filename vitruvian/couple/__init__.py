"""The one step of bones, and everything that acts on them within it.

`step`          A dv = h f with contributors; `books` where momentum and energy went; `state` what a body carries
`muscle_pull`, `torques`, `wrenches`, `links` (cartilage, ground), `still_water`, `muscle_flesh.FleshPull`: contributors
`stepper`       a body's arrangement; `response` how bones answer later impulses, such as pressure
`body_water`    a body in water; `skin_links`, `bone_parts`, `flesh_skin` the skins that water meets
`bone_flesh`, `muscle_flesh`, `flesh_follower`, `flesh_predictor`: bones wrapped in flesh
"""
