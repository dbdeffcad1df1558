"""A body's step: bones, line muscles, cartilage springs and contacts, and whatever else acts.

The arrangement of `couple.step` that bodies and their controllers share.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vitruvian.couple.books import Book
from vitruvian.couple.contact import BodyContact
from vitruvian.couple.contact_shapes import Contacts
from vitruvian.couple.links import BoneLinks
from vitruvian.couple.muscle_pull import MuscleLines, MusclePull, MuscleResults
from vitruvian.couple.plain_step import plain_step
from vitruvian.couple.step import NOT_POSITIVE, BoneStep, Contributor, System
from vitruvian.couple.stretch_reflex import AGAIN, MISSED, NO_REFLEX, StretchReflex, missed
from vitruvian.couple.torques import AppliedTorques, JointTorques
from vitruvian.couple.wrenches import Wrenches, check_wrenches, joint_forces_of
from vitruvian.errors import Diverged
from vitruvian.muscle import MuscleModel
from vitruvian.skeleton import Skeleton, energy

Array = np.ndarray
NONE, NO_IMPULSE = np.zeros((0, 6)), np.zeros(0)


class BodyStepper:
    """The step of one skeleton with muscles; holds scratch memory, no state."""

    def __init__(
        self, skeleton: Skeleton, muscles: MuscleModel, *, held: Array | None = None, contacts: Contacts | None = None
    ):
        """held: joint coordinates kept still (a fixed pelvis), bool, shape (n_v,)."""
        self.skeleton, self.muscles = skeleton, muscles
        self.bones = BoneStep(skeleton, held=held)
        self.lines = MuscleLines(self.bones, muscles)
        self.links = BoneLinks(self.bones)
        self.contact = BodyContact(self.bones, contacts)
        self.held, self.free, self.place = self.bones.held, self.bones.free, self.bones.place
        self._known: tuple[tuple[Array, Array, Array], float] | None = None  # energy [J] of the bones at (q, v, load)

    def twin(self) -> BodyStepper:
        """Another stepper of the same body with scratch of its own, for a controller to think with."""
        return BodyStepper(self.skeleton, self.muscles, held=self.held, contacts=self.contact.contacts)

    @property
    def found(self) -> MuscleResults:
        """Lengths, moment arms and tensions of the muscles at the latest assembly."""
        return self.lines.results

    def assemble(
        self,
        q: Array,
        v: Array,
        activation: Array,
        dt: float,
        others: Sequence[Contributor] = (),
        *,
        load: Array | None = None,
        active: bool = True,
        fibre: Array | None = None,
        reflex: StretchReflex = NO_REFLEX,
    ) -> System:
        """The system of a step of dt [s] at (q, v); see `BoneStep.assemble`. others: contributors beside muscles,
        springs and contacts; active False: without the muscles' active force; fibre: lengths [m] (n_muscles,) of fibres
        with elastic tendons, which `System.settle` moves on; without it the tendons count as settled; reflex: sets the
        activation of its muscles, in place."""
        pull = MusclePull(self.lines, activation, active, fibre=fibre, reflex=reflex)
        own: tuple[Contributor, ...] = (pull, self.links, self.contact)
        return self.bones.assemble(q, v, dt, (*own, *others), load=load)

    def step(
        self,
        q: Array,
        v: Array,
        activation: Array,
        dt: float,
        others: Sequence[Contributor] = (),
        *,
        load: Array | None = None,
        wrench: Array | None = None,
        torque: Array | JointTorques | None = None,
        book: Book | None = None,
        fibre: Array | None = None,
        reflex: StretchReflex = NO_REFLEX,
    ) -> tuple[Array, Array]:
        """(q, v) after dt [s]. wrench: on each bone in its own frame (moment, force), shape (n_bones, 6); torque: on
        the joint coordinates [N m or N], shape (n_v,); book: where the work of all of them is booked; fibre: lengths
        [m] (n_muscles,) of fibres with elastic tendons, moved on in place; without it the tendons count as settled;
        reflex: sets the activation of its muscles, in place."""
        if torque is None and book is None and not others and self._plain(fibre):
            return self._plain_step(q, v, activation, dt, load, wrench, reflex)
        more: list[Contributor] = []
        if torque is not None:
            given = torque if isinstance(torque, JointTorques) else JointTorques(torque)
            more.append(AppliedTorques(given, (q, v)))
        if wrench is not None:
            more.append(Wrenches(wrench))
        begun, off = activation.copy(), np.inf
        for _ in range(AGAIN + 1):
            system = self.assemble(q, v, activation, dt, (*more, *others), load=load, fibre=fibre, reflex=reflex)
            q_new, v_new = self.bones.solve(system)
            if fibre is not None and self.lines.elastic:
                break  # elastic tendons take a reflex without its slope
            if not len(reflex.muscles):
                break
            rates, last = np.zeros(len(begun)), off
            off = self._missed(reflex, v_new, dt, begun, activation, rates)
            if off <= MISSED:
                break
            reflex, activation[:] = self._nearer(reflex, rates, off, last), begun
        self.contact.remember(dt)
        system.settle(v_new, book)
        if book is not None:
            booked = book.on_bones()
            system.book_work(book, v_new)
            if "step" in book.work:
                before = self._energy(q, v, load)
                gained = self._energy(q_new, v_new, load) - before
                book.add_work("step", gained - (book.on_bones() - booked))
        return q_new, v_new

    def _plain(self, fibre: Array | None) -> bool:
        """Whether one call does it: no law of one's own, no fibre that remembers, nothing that could be touched."""
        m = self.lines.model
        return not m.custom and (fibre is None or not self.lines.elastic) and self.contact.idle

    def _plain_step(
        self, q: Array, v: Array, activation: Array, dt: float, load: Array | None, wrench: Array | None,
        reflex: StretchReflex,
    ) -> tuple[Array, Array]:  # fmt: skip
        bones, lines, links = self.bones, self.lines, self.links
        w = bones.begin(q, v, dt)
        q_new, v_new = np.empty_like(q), np.empty_like(v)
        if wrench is not None:
            check_wrenches(w, wrench)
        begun, rates, off = activation.copy(), np.empty(len(activation)), np.inf
        for _ in range(AGAIN + 1):
            last = off
            bad, off = plain_step(
                bones.tree, bones.joints, bones.scratch, bones.skeleton.custom_rows(q), bones.inertia(load),
                lines.paths, lines.results, lines.laws, reflex, activation, links.arrays, links.rows, links.force,
                NONE if wrench is None else wrench, NO_IMPULSE, q, v, dt, w.poses, w.screws, w.force, w.matrix,
                w.damping, bones.right, begun, q_new, v_new, rates,
            )  # fmt: skip
            if bad >= 0:
                raise Diverged(bones.bone_at(bad), NOT_POSITIVE)
            if off <= MISSED:
                break
            reflex, activation[:] = self._nearer(reflex, rates, off, last), begun
        return q_new, v_new

    def _missed(
        self, reflex: StretchReflex, v: Array, dt: float, begun: Array, activation: Array, rates: Array
    ) -> float:
        """By how much activation was off in a step that has ended with velocities v (n_v,); see `missed`."""
        r, paths = self.lines.results, self.lines.paths
        return float(missed(
            reflex, self.lines.laws.rest, r.length, r.rate, paths.row_start, paths.column, r.arms, v, dt, begun,
            activation, r.answer, rates,
        ))  # fmt: skip

    def _nearer(self, reflex: StretchReflex, rates: Array, off: float, before: float) -> StretchReflex:
        """The reflex with a better guess of where the step ends: the rates [m/s] with which it ended. A guess that is
        hardly better than the one before goes half as far, or guesses would leap between muscles that are on and off.
        off, before: by how much activation was off with the last guess and with the one before."""
        if off > 0.5 * before:
            rates = rates + 0.5 * ((reflex.guess if len(reflex.guess) else self.lines.results.rate) - rates)
        return reflex._replace(guess=rates.copy())

    def _energy(self, q: Array, v: Array, load: Array | None) -> float:
        """Of the bones [J]; what a step ends with the next begins with, so the latest is remembered."""
        held = np.zeros((self.skeleton.n_bones, 10)) if load is None else load
        if self._known is None or not all(np.array_equal(a, b) for a, b in zip(self._known[0], (q, v, held))):
            self._known = (q.copy(), v.copy(), held.copy()), energy(self.skeleton, q, v, load=held).total
        return self._known[1]

    def wrench_forces(self, wrench: Array) -> Array:
        """Generalised force (n_v,) of wrenches on bones in their own frames (n_bones, 6), at the latest assembly."""
        return joint_forces_of(self.bones.system, wrench)
