"""Views of results: numbers, a data frame, a figure, the page, a card in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from tercet._typing import JSON

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from tercet.report.cards import Page
    from tercet.report.plots import Plot


class Shown:
    """What a notebook shows as a card: a sentence, a small table and a small picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from tercet.report.cards import card

        return card(self)


class EvaluationViews(Shown):
    """What every evaluation can be shown as."""

    def to_dict(self, *, curves: bool = True) -> JSON:
        """One entry of "systems" in the JSON.

        Parameters
        ----------
        curves : bool, default True
            Also the points of curves, plots and histograms.

        Returns
        -------
        dict
            Plain values for JSON.
        """
        raise NotImplementedError

    def metrics(self, metrics: Sequence[str] | None = None) -> dict[str, float]:
        """The numbers as a flat dictionary, for MLflow, Weights & Biases and the like.

        Parameters
        ----------
        metrics : list of str, optional
            Names of quantities, as `tercet metrics` lists them: "eer", "dcf", "ppv", "partial_auc:0.1", ... By default
            all that need no parameter; the calibration loss, which takes five fits per operating point, only if it is
            known already, and areas of several classes only if they are named.

        Returns
        -------
        dict of str to float
            Undefined numbers are left out. With several operating points a name is followed by a slash and the point:
            "dcf/sre08", "dcf/0.5_1_1". Evaluated with `ci`, a number has "..._low" and "..._high" beside it.

        Examples
        --------
        >>> import tercet as tc
        >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
        >>> tc.evaluate(trials, [(0.5, 1, 1)]).metrics(["auc", "min_dcf", "ppv"])
        {'auc': 0.8888888888888888, 'min_dcf': 0.3333333333333333, 'ppv': 0.6666666666666666}
        """
        from tercet.report.quantities import QUANTITIES, asked, facts_of, flat

        quick = [name for name, one in QUANTITIES.items() if name != "calibration_loss" and one.of_trials is None]
        wanted = asked(metrics, quick)
        found = facts_of(self, wanted)
        return flat(found, wanted if metrics is not None else tuple(QUANTITIES.values()))

    @overload
    def to_frame(self, library: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["pyarrow"]) -> pyarrow.Table: ...
    @overload
    def to_frame(self, library: None = None) -> pandas.DataFrame | polars.DataFrame | pyarrow.Table: ...
    def to_frame(
        self, library: Literal["pandas", "polars", "pyarrow"] | None = None
    ) -> pandas.DataFrame | polars.DataFrame | pyarrow.Table:
        """The numbers as a data frame: one row per operating point.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Whose frame it is; by default the first of these that is installed. A pyarrow table is read by every library
            that knows the Arrow PyCapsule interface.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns under the names of the JSON; undefined numbers are missing.

        Examples
        --------
        >>> import tercet as tc
        >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
        >>> tc.evaluate(trials, [(0.5, 1, 1), (0.1, 1, 1)]).to_frame()["min_dcf"].tolist()
        [0.3333333333333333, 0.3333333333333333]
        """
        from tercet.report.system_table import frame

        return frame([self.to_dict(curves=False)], library)

    def plot(self, kind: str, **options: object) -> Plot:
        """Draw one figure of this system.

        Parameters
        ----------
        kind : str
            As in `tercet.plot`: "roc", "det", "bayes-error", "confusion", ...
        **options
            As in `tercet.plot`.

        Returns
        -------
        Plot
            The figure; a notebook displays it.
        """
        from tercet.report.plots import plot

        return plot(self, kind, **options)  # type: ignore[arg-type]

    def page(self, height: int = 900) -> Page:
        """The interactive page about this system.

        Parameters
        ----------
        height : int, default 900
            Of its frame in a notebook, in pixels.

        Returns
        -------
        Page
            A notebook displays it; `.save(path)` writes it.
        """
        from tercet.report.cards import Page

        return Page(self, height)

    def to_html(self, height: int = 900) -> str:
        """The page about this system in a frame, as HTML.

        Parameters
        ----------
        height : int, default 900
            Of the frame, in pixels.

        Returns
        -------
        str
            Markup that a notebook or a page can hold.
        """
        return self.page(height)._repr_html_()
