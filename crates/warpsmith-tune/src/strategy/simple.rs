//! Strategies that learn nothing: all configurations in order, and random ones.

use super::{Search, Searched};

/// Every configuration in the order of the space.
pub(super) fn brute_force(search: &mut Search) -> Searched<()> {
    for id in search.space.ids() {
        search.submit(id)?;
        while search.pending().len() >= search.workers {
            search.collect()?;
        }
    }
    while search.collect()?.is_some() {}
    Ok(())
}

/// Configurations drawn uniformly without replacement.
pub(super) fn random_sample(search: &mut Search) -> Searched<()> {
    loop {
        let id = search.fresh()?;
        search.submit(id)?;
        while search.pending().len() >= search.workers {
            search.collect()?;
        }
    }
}
