"""Experiment trackers: what the recipe of the documentation logs is what tercet computed."""

import os
import warnings

import numpy as np
import pytest

import tercet as tc

if os.environ.get("CI"):
    import mlflow  # of the extra `dev`: a failure says why
else:
    mlflow = pytest.importorskip("mlflow")


def test_mlflow_keeps_the_metrics_and_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    trials = tc.Trials.of_llr(2.0 * y - 1.0 + rng.normal(size=300), y, name="new")
    ev = tc.evaluate(trials, [(0.1, 1, 1), "sre08"], ci=0.95)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mlflow's own
        mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
        mlflow.set_experiment("tercet")
        with mlflow.start_run() as run:
            mlflow.log_metrics(ev.metrics())
            mlflow.log_artifact(str(tc.report(ev, tmp_path / "report.html")))
        client = mlflow.MlflowClient()
        kept = client.get_run(run.info.run_id).data.metrics
        pages = [one.path for one in client.list_artifacts(run.info.run_id)]
    assert kept == ev.metrics()
    assert pages == ["report.html"]
