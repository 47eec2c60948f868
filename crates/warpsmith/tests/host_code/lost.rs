//! Host code that is left out, and what hangs on it.

use super::{check, program};

/// A call that is left out loses the launches of what it calls.
#[test]
fn what_a_lost_call_launches_is_lost() {
    let helpers = "#include <string>
void deep(float *x, int n) { scale<<<4, 32>>>(x, 2.0f, n); }
void named(float *x, const std::string &name) { deep(x, 101); }
struct Job {
    Job(float *x, const std::string &name) { deep(x, 101); }
    void add(float *x, const std::string &name) { deep(x, 101); }
};
int first(const std::string &name) { return name.size(); }
";
    let lost = "std::string(\"a\").no_such_method()";
    let after = |call: &str| {
        let body = format!(
            "float *x; cudaMalloc(&x, 400); cudaMemset(x, 0, 400);
    scale<<<4, 32>>>(x, 2.0f, 100);
    auto later = [&](const std::string &name) {{ deep(x, 100); }};
    {call}"
        );
        program(&body).replace("int main", &format!("{helpers}int main"))
    };
    for call in [
        format!("named(x, {lost});"),
        format!("Job job(x, {lost});"),
        format!("auto job = Job(x, {lost});"),
        format!("Job *job = new Job(x, {lost});"),
        format!("later({lost});"),
    ] {
        let text = check(&after(&call), &[], 2);
        assert!(text.contains("a launch was not run: `string` has no member"), "{text}");
    }
    // What launches nothing loses no launch.
    let text = check(&after(&format!("first({lost});")), &[], 0);
    assert!(!text.contains("was not run"), "{text}");
}
