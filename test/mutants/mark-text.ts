/** What each character of a source file is; mutants change code and SQL, and neither words nor comments. */
export type Mark = 'code' | 'sql' | 'text'

/** A template literal with the tag `sql` is SQL, what stands in its `${}` is code. */
export function markTypeScript(source: string): Mark[] {
  const marks: Mark[] = []
  /** For each template literal around: how many braces are open in its `${}`, and whether it is SQL. */
  const around: { braces: number; readonly isSql: boolean }[] = []
  const take = (end: number, mark: Mark): void => {
    while (marks.length < Math.min(end, source.length)) marks.push(mark)
  }
  const takeTemplate = (isSql: boolean): void => {
    let at = marks.length
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at))
      at += source[at] === '\\' ? 2 : 1
    take(at, isSql ? 'sql' : 'text')
    if (source[at] === '$') around.push({ braces: 0, isSql })
    take(at + (source[at] === '$' ? 2 : 1), 'text')
  }
  while (marks.length < source.length) {
    const at = marks.length
    const inner = around.at(-1)
    const skipped = /^(?:\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")/.exec(
      source.slice(at),
    )
    const before = source.slice(Math.max(0, at - 200), at)
    const regex =
      /(?:[=(,:[!&|?;{}]|return)\s*$/.test(before) &&
      /^\/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+\/\w*/.exec(source.slice(at))
    if (skipped) take(at + skipped[0].length, 'text')
    else if (regex) take(at + regex[0].length, 'text')
    else if (source[at] === '`') {
      take(at + 1, 'text')
      takeTemplate(/\bsql(?:<[^`]*>)?$/.test(before))
    } else if (source[at] === '}' && inner?.braces === 0) {
      around.pop()
      take(at + 1, 'text')
      takeTemplate(inner.isSql)
    } else {
      if (inner) inner.braces += source[at] === '{' ? 1 : source[at] === '}' ? -1 : 0
      take(at + 1, 'code')
    }
  }
  return marks
}

export function markSql(source: string): Mark[] {
  const marks: Mark[] = Array.from(source, () => 'sql')
  for (const { 0: text, index } of source.matchAll(/--.*|'[^']*'/g))
    marks.fill('text', index, index + text.length)
  return marks
}
