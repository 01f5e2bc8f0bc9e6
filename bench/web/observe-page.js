// Runs in every page before its own script, and collects the entries that only the page itself receives. Read by load-page.ts.
;(function () {
  const seen = { firstPaintMs: 0, largestPaintMs: 0, largestElement: '', shifts: [], longTasks: [] }
  window.benchSeen = seen

  function watch(type, take) {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(take))
    observer.observe({ type, buffered: true })
  }

  function describe(node) {
    const element = node instanceof Element ? node : node?.parentElement
    if (!element) return 'gone'
    const text = (element.textContent ?? '').trim().slice(0, 40)
    return `${element.tagName.toLowerCase()}.${(element.getAttribute('class') ?? '').slice(0, 60)} "${text}"`
  }

  watch('paint', (entry) => {
    if (entry.name === 'first-contentful-paint') seen.firstPaintMs = entry.startTime
  })
  watch('largest-contentful-paint', (entry) => {
    seen.largestPaintMs = entry.startTime
    seen.largestElement = describe(entry.element)
  })
  watch('layout-shift', (entry) => {
    if (entry.hadRecentInput) return
    const sources = entry.sources.map((source) => describe(source.node))
    seen.shifts.push({ atMs: entry.startTime, value: entry.value, sources })
  })
  watch('longtask', (entry) => {
    seen.longTasks.push({ startMs: entry.startTime, durationMs: entry.duration })
  })
})()
