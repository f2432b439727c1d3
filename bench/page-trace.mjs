// What Chromium's traces say of a page: time on the processor, frames.

/** In the page: waits until a test holds, and the frame after it. @returns milliseconds since `from` */
export const waitFor = (test, from) =>
  new Promise((done) => {
    const look = () => {
      if (test()) requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
      else setTimeout(look, 4);
    };
    look();
  });

/** Milliseconds of a number of values that a share of them stays below. */
export const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
};

/** A trace, as what happened between two marks of the page. */
export function readTrace(trace) {
  const events = JSON.parse(trace.toString()).traceEvents;
  const marks = new Map(events.filter(({ cat }) => cat?.includes('user_timing')).map(({ name, ts }) => [name, ts]));
  const thread = events.find(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const tasks = events.filter(
    ({ name, pid, tid, tdur }) => name.endsWith('RunTask') && tdur > 0 && pid === thread?.pid && tid === thread?.tid,
  );
  const between = (list, mark) => {
    const [from, to] = [marks.get(`${mark}-start`) ?? 0, marks.get(`${mark}-end`) ?? 0];
    return list.filter(({ ts }) => ts >= from && ts <= to);
  };
  return {
    /** Milliseconds on the processor that the page's own thread took: scripts, style, layout, paint. */
    work: (mark) => between(tasks, mark).map(({ tdur }) => tdur / 1000),
    between: (mark) => between(events, mark),
  };
}

/** Frames of a scroll: how far apart, and how many were dropped. */
export function framesOf(trace, mark) {
  const within = trace.between(mark);
  // One event a frame that the compositor has drawn.
  const drawn = within
    .filter(({ name }) => name === 'DrawFrame')
    .map(({ ts }) => ts)
    .sort((a, b) => a - b);
  const intervals = drawn.slice(1).map((ts, at) => (ts - drawn[at]) / 1000);
  const reports = within.filter(({ name, ph }) => name === 'PipelineReporter' && ph === 'b');
  const state = ({ args }) => (args.frame_reporter ?? args.chrome_frame_reporter)?.state ?? '';
  const work = trace.work(mark);
  return {
    frames: drawn.length,
    intervals,
    dropped: reports.filter((report) => state(report) === 'STATE_DROPPED').length,
    reported: reports.length,
    workPerFrame: work.reduce((sum, each) => sum + each, 0) / Math.max(1, drawn.length),
    longestTask: Math.max(0, ...work),
  };
}

export const categories = [
  ...['cc', 'benchmark', 'toplevel', 'blink.user_timing'],
  ...['devtools.timeline', 'devtools.timeline.frame', 'disabled-by-default-devtools.timeline.frame'],
];
