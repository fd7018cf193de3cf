//! The scenarios that are shipped, to start from.

use std::path::Path;
use std::sync::OnceLock;

/// Their texts, in the order of their names, without those that are changes of another one.
pub(crate) fn scenarios() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/thalweg/suites");
        let folder = |path: &Path| -> Vec<_> {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            paths
        };
        let files = folder(&suites).into_iter().flat_map(|suite| folder(&suite));
        let scenarios = files.filter(|file| {
            file.extension().is_some_and(|ending| ending == "toml") && !file.ends_with("suite.toml")
        });
        let texts: Vec<String> = scenarios
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .filter(|text| !text.starts_with("base "))
            .collect();
        assert!(!texts.is_empty(), "no scenario in {}", suites.display());
        texts
    })
}
