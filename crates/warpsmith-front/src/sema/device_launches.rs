//! Launches from kernels (dynamic parallelism).
//!
//! A kernel that launches writes what it launches into a queue in memory of the device; when its grid has ended, the host takes the
//! launches from it, one after another. A grid that was launched is over, with all that it launches itself, before the next
//! one starts. CUDA promises this order to the launches of one thread into one stream; of others it promises less,
//! and conflicts between grids that may run side by side are not looked for.

use warpsmith_ir::visit::{for_each_stmt, map_stmts};
use warpsmith_ir::{
    AtomicOp, BinaryOp, Block, Expr, ExprKind, ForLoop, FuncId, Function, FunctionKind, Global,
    GlobalId, Launch, LoopKind, Origin, Place, PlaceKind, Scalar, Scope, Space, Span, Stmt,
    StmtKind, StructField, Type, Var, VarKind, layout,
};

use super::Sema;
use super::functions::raw_pointer_cast_if;
use super::model::*;
use super::templates::despaced_type;

/// Launches that wait, at most.
const CAPACITY: u64 = 4096;

/// The queue of one program.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// How many launches wait, and where each stands in the source.
    common: Option<(GlobalId, GlobalId)>,
    sites: Vec<Site>,
}

/// A launch in the source: the kernel, and the numbers and arguments of each launch that waits.
#[derive(Debug)]
struct Site {
    kernel: FuncId,
    records: GlobalId,
    record: Type,
    span: Span,
}

impl<'a> Sema<'a> {
    /// A launch in code of the device.
    pub(crate) fn queue_launch(&mut self, launch: Launch, span: Span) -> Res<Operand<'a>> {
        if !self.program {
            let text =
                "the grid that is launched here is not run: only programs with host code run such";
            self.warn(super::NOT_RUN, span, text);
            return Ok(Operand::Void);
        }
        let (waiting, sites) = self.common_queue(span);
        let values = values_of(launch.grid, launch.block, launch.shared, launch.args);
        let values: Vec<Expr> = values.into_iter().map(|v| self.hold_value(v, span)).collect();
        let types: Vec<Type> = values.iter().map(|v| despaced_type(&v.ty)).collect();
        let record = self.record_type(&types, span);
        let records = self.queue_variable("launches of the device", &record, CAPACITY, span);
        let number = self.queue.sites.len() as i32;
        self.queue.sites.push(Site {
            kernel: launch.kernel,
            records,
            record: record.clone(),
            span,
        });

        let counter = Place::new(PlaceKind::Global(waiting), Type::U32, span);
        let pointer = self.address_of(counter, false, span);
        let at = self.new_temp(Type::U32, span);
        let one = Expr::int(Scalar::U32, 1).with_origin(span);
        let (op, scope) = (AtomicOp::Add, Scope::Device);
        let result = Some(at);
        self.emit(StmtKind::Atomic { op, pointer, value: one, compare: None, result, scope }, span);

        let at = Expr::var(at, Type::U32).with_origin(span);
        let room = Expr::int(Scalar::U32, CAPACITY as i64).with_origin(span);
        let cond = Expr::binary(BinaryOp::Lt, at.clone(), room);
        let parts = values.into_iter().zip(&types);
        let parts = parts.map(|(v, ty)| raw_pointer_cast_if(v, ty, span)).collect();
        let value = Expr::new(ExprKind::Make(parts), record.clone(), span);
        let then = Block::new(vec![
            assign(element(sites, Type::I32, at.clone(), span), Expr::i32(number), span),
            assign(element(records, record, at, span), value, span),
        ]);
        let text = format!("at most {CAPACITY} launches of the device wait");
        let cond_full = super::convert::bool_const(false, span);
        let full = Stmt::new(StmtKind::Assert { cond: cond_full, text }, span);
        self.emit(StmtKind::If { cond, then, otherwise: Block::new(vec![full]) }, span);
        Ok(Operand::Void)
    }

    fn common_queue(&mut self, span: Span) -> (GlobalId, GlobalId) {
        if let Some(known) = self.queue.common {
            return known;
        }
        let waiting = self.queue_variable("launches that wait", &Type::U32, 1, span);
        let sites = self.queue_variable("places of launches", &Type::I32, CAPACITY, span);
        self.queue.common = Some((waiting, sites));
        (waiting, sites)
    }

    fn queue_variable(&mut self, name: &str, ty: &Type, n: u64, span: Span) -> GlobalId {
        let ty = if n == 1 { ty.clone() } else { Type::array(ty.clone(), n) };
        let origin = Origin::at(span);
        let name = name.to_string();
        self.module.globals.push(Global { name, ty, space: Space::Global, init: None, origin });
        GlobalId(self.module.globals.len() as u32 - 1)
    }

    fn record_type(&mut self, types: &[Type], span: Span) -> Type {
        let id = self.new_struct("a launch", span);
        let (offsets, whole) = layout::lay_out(&self.module, types, 1);
        if let Some(def) = self.module.structs.get_mut(id.0 as usize) {
            let fields = types.iter().zip(offsets).enumerate();
            def.fields = fields
                .map(|(i, (ty, offset))| StructField {
                    name: format!("f{i}"),
                    ty: ty.clone(),
                    offset,
                })
                .collect();
            (def.size, def.align) = (whole.size, whole.align);
        }
        Type::Struct(id)
    }

    /// Makes the host run what kernels launch, after each launch of a kernel that may do so.
    pub(crate) fn run_queued_launches(&mut self) {
        let Some((waiting, sites)) = self.queue.common else { return };
        let span = self.queue.sites[0].span;
        let name = "launches of the device".to_string();
        let taker = self.module.add_function(Function::new(name, FunctionKind::Host));
        let body = self.taker(taker, waiting, sites, span);
        if let Some(slot) = self.module.functions.get_mut(taker.0 as usize) {
            *slot = body;
        }
        let queueing = self.queueing(waiting);
        for (i, f) in self.module.functions.iter_mut().enumerate() {
            if f.kind != FunctionKind::Host || i == taker.0 as usize {
                continue;
            }
            map_stmts(&mut f.body, &mut |s| {
                let StmtKind::Launch(launch) = &s.kind else { return };
                if !queueing.contains(&launch.kernel) {
                    return;
                }
                let first = Expr::int(Scalar::U32, 0).with_origin(span);
                let call =
                    StmtKind::Call { function: taker, args: vec![first.clone()], result: None };
                let none = assign(whole(waiting, span), first, span);
                let launch = s.clone();
                s.kind = StmtKind::Scope(Block::new(vec![launch, Stmt::new(call, span), none]));
            });
        }
    }

    /// Kernels that may launch something, themselves or by what they call.
    fn queueing(&self, waiting: GlobalId) -> Vec<FuncId> {
        let mut found: Vec<FuncId> = vec![];
        loop {
            let before = found.len();
            for (i, f) in self.module.functions.iter().enumerate() {
                let id = FuncId(i as u32);
                let mut queues = false;
                for_each_stmt(&f.body, &mut |s| match &s.kind {
                    StmtKind::Atomic { pointer, .. } => queues |= points_at(pointer, waiting),
                    StmtKind::Call { function, .. } => queues |= found.contains(function),
                    _ => {}
                });
                if queues && !found.contains(&id) {
                    found.push(id);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// `void take(unsigned first)`: launches what waits from there on, each with all that it launches itself.
    fn taker(&self, own: FuncId, waiting: GlobalId, sites: GlobalId, span: Span) -> Function {
        let mut f = Function::new("launches of the device", FunctionKind::Host);
        f.origin = span.into();
        let first = f.add_param(Var::new("first", Type::U32, VarKind::Param));
        let end = f.add_var(Var::new("end", Type::U32, VarKind::Local));
        let at = f.add_var(Var::new("at", Type::U32, VarKind::Local));
        let number = |v| Expr::var(v, Type::U32).with_origin(span);
        let mut body = vec![];
        for (i, site) in self.queue.sites.iter().enumerate() {
            let place = element(sites, Type::I32, number(at), span);
            let cond = Expr::binary(BinaryOp::Eq, Expr::read(place), Expr::i32(i as i32));
            let then = Block::new(vec![self.taken(site, number(at))]);
            let kind = StmtKind::If { cond, then, otherwise: Block::default() };
            body.push(Stmt::new(kind, site.span));
        }
        let now = Expr::read(whole(waiting, span));
        let cond = Expr::binary(BinaryOp::Ne, now, number(end));
        let call = StmtKind::Call { function: own, args: vec![number(end)], result: None };
        let then = Block::new(vec![
            Stmt::new(call, span),
            assign(whole(waiting, span), number(end), span),
        ]);
        let kind = StmtKind::If { cond, then, otherwise: Block::default() };
        body.push(Stmt::new(kind, span));
        let id = f.fresh_loop();
        let l = ForLoop {
            id,
            var: at,
            declares: true,
            first: number(first),
            compare: BinaryOp::Lt,
            limit: number(end),
            step: Expr::int(Scalar::U32, 1).with_origin(span),
            kind: LoopKind::Serial,
            body: Block::new(body),
        };
        let init = Some(Expr::read(whole(waiting, span)));
        f.body = Block::new(vec![
            Stmt::new(StmtKind::Decl { var: end, init }, span),
            Stmt::new(StmtKind::For(l), span),
        ]);
        f
    }

    /// The launch that a record of a site describes.
    fn taken(&self, site: &Site, at: Expr) -> Stmt {
        let kernel = self.module.function(site.kernel);
        let record = element(site.records, site.record.clone(), at, site.span);
        let field = |i: u32| Expr::read(self.field_place(record.clone(), &[i], site.span));
        let args = kernel.params.iter().zip(7..);
        let args = args.map(|(p, i)| raw_pointer_cast_if(field(i), &kernel.var(*p).ty, site.span));
        let launch = Launch {
            kernel: site.kernel,
            grid: [0, 1, 2].map(field),
            block: [3, 4, 5].map(field),
            shared: field(6),
            cluster: None,
            args: args.collect(),
        };
        Stmt::new(StmtKind::Launch(launch), site.span)
    }
}

fn values_of(grid: [Expr; 3], block: [Expr; 3], shared: Expr, args: Vec<Expr>) -> Vec<Expr> {
    grid.into_iter().chain(block).chain([shared]).chain(args).collect()
}

fn whole(global: GlobalId, span: Span) -> Place {
    Place::new(PlaceKind::Global(global), Type::U32, span)
}

fn element(global: GlobalId, ty: Type, at: Expr, span: Span) -> Place {
    let all = Place::new(PlaceKind::Global(global), Type::array(ty.clone(), CAPACITY), span);
    Place::new(PlaceKind::Index(all, at), ty, span)
}

fn assign(place: Place, value: Expr, span: Span) -> Stmt {
    Stmt::new(StmtKind::Assign { place, value }, span)
}

fn points_at(pointer: &Expr, global: GlobalId) -> bool {
    match &*pointer.kind {
        ExprKind::AddressOf(place) => *place.kind == PlaceKind::Global(global),
        ExprKind::Cast(inner) => points_at(inner, global),
        _ => false,
    }
}
