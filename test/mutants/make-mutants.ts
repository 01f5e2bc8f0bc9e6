/** One mutant is one small mistake in one place: a condition that is missing, a limit one too far, a sign turned round. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markSql, markTypeScript, type Mark } from './mark-text.ts'

export interface Mutant {
  readonly file: string
  /** `tenant`: without the condition that says whose row it is. */
  readonly kind: 'tenant' | 'bound' | 'sign' | 'negation' | 'dropped'
  /** The line with what stands in its place; of two that are the same, the first is meant by a list. */
  readonly line: string
  readonly becomes: string
  /** Of the whole file, before and after. */
  readonly source: string
  readonly text: string
}

interface Operator {
  readonly kind: Mutant['kind']
  readonly in: Mark
  readonly finds: RegExp
  readonly becomes: (...found: string[]) => string
}

/** Of SQL and of TypeScript alike; types have no blanks around their brackets. */
const SIGNS: Readonly<Record<string, readonly [Mutant['kind'], string]>> = {
  '<': ['bound', '<='],
  '<=': ['bound', '<'],
  '>': ['bound', '>='],
  '>=': ['bound', '>'],
  '+': ['sign', '-'],
  '-': ['sign', '+'],
}
const VALUE = String.raw`(?:any ?\((?:[^()]|\([^()]*\))*\)|\$\{[^}]*\}|[\w.]+)`
/** To the end of the condition, if that is on the same line. */
const CONDITION = String.raw`((?:\((?:[^()\n]|\([^()\n]*\))*\)|\$\{[^}\n]*\}|(?! (?:and|or|then|order|limit|group|for|returning|union|on) )[^()\n;,\`])+?)(?= (?:and|or|then|order|limit|group|for|returning|union|on)\b|[)\n;,\`]|$)`

const OPERATORS: readonly Operator[] = [
  {
    kind: 'tenant',
    in: 'sql',
    finds: new RegExp(String.raw`(?<!\bset |, )(?:\b\w+\.)?\bcustomer_id = ${VALUE}`, 'g'),
    becomes: () => 'true',
  },
  { kind: 'tenant', in: 'sql', finds: /(?<!\.)\bid = \$\{customerId\}/g, becomes: () => 'true' },
  {
    kind: 'dropped',
    in: 'sql',
    finds: new RegExp(String.raw`\b(and|where) (?!.*\bbetween\b)${CONDITION}`, 'g'),
    becomes: (_all, word) => (word === 'where' ? 'where true' : ''),
  },
  { kind: 'negation', in: 'sql', finds: /\bleast\(/g, becomes: () => 'greatest(' },
  { kind: 'negation', in: 'sql', finds: /\bgreatest\(/g, becomes: () => 'least(' },
  { kind: 'negation', in: 'sql', finds: /\bis not null\b/g, becomes: () => 'is null' },
  { kind: 'negation', in: 'sql', finds: /\bis null\b/g, becomes: () => 'is not null' },
  {
    kind: 'negation',
    in: 'sql',
    finds: /\bnot (?=exists|\w+\.?\w*\b(?! null))/g,
    becomes: () => '',
  },
  { kind: 'negation', in: 'sql', finds: / <> /g, becomes: () => ' = ' },
  { kind: 'negation', in: 'code', finds: / === /g, becomes: () => ' !== ' },
  { kind: 'negation', in: 'code', finds: / !== /g, becomes: () => ' === ' },
  { kind: 'negation', in: 'code', finds: / && /g, becomes: () => ' || ' },
  { kind: 'negation', in: 'code', finds: / \|\| /g, becomes: () => ' && ' },
  {
    kind: 'dropped',
    in: 'code',
    finds: /\bif \((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\) (?=return|throw|continue|\{)/g,
    becomes: () => 'if (false) ',
  },
  { kind: 'tenant', in: 'code', finds: /\.where\('[\w.]*customer_id', .*\)$/gm, becomes: () => '' },
  {
    kind: 'dropped',
    in: 'code',
    finds: /\.where\((?!'[\w.]*customer_id').*\)$/gm,
    becomes: () => '',
  },
  ...Object.entries(SIGNS).flatMap(([sign, [kind, other]]) =>
    (['code', 'sql'] as const).map((mark) => ({
      kind,
      in: mark,
      finds: new RegExp(String.raw` ${sign === '+' ? String.raw`\+` : sign} (?=[\w$(:'])`, 'g'),
      becomes: () => ` ${other} `,
    })),
  ),
]

/** Where money is kept, paid, limited and guarded; everywhere else only the conditions on the customer. */
const WHOLE = ['src/money/ledger/', 'src/money/payments/', 'src/customers/', 'src/http/rest/']
const SOURCES = ['src/**/*.ts', 'src/**/sql/*.sql']
const LEFT_OUT = ['**/*.test.ts', 'src/sandbox/**', 'src/platform/db/**', 'src/site/docs/**']

export function makeMutants(root: string): Mutant[] {
  const files = globSync(SOURCES, { cwd: root, exclude: LEFT_OUT }).toSorted()
  return files.flatMap((file) => {
    const isWhole = WHOLE.some((folder) => file.startsWith(folder))
    return mutantsOf(file, readFileSync(join(root, file), 'utf8')).filter(
      ({ kind }) => isWhole || kind === 'tenant',
    )
  })
}

function mutantsOf(file: string, source: string): Mutant[] {
  const marks = file.endsWith('.sql') ? markSql(source) : markTypeScript(source)
  const found = OPERATORS.flatMap(({ kind, in: mark, finds, becomes }) =>
    [...source.matchAll(finds)]
      .filter(({ index }) => marks[index] === mark)
      .map((found) => {
        const { 0: all, index } = found
        const put = becomes(...(found as unknown as string[]))
        const start = source.lastIndexOf('\n', index) + 1
        const end = index + all.length + source.slice(index + all.length).search(/\n|$/)
        return {
          file,
          kind,
          line: source.slice(start, end).trim(),
          becomes: (
            source.slice(start, index) +
            put +
            source.slice(index + all.length, end)
          ).trim(),
          source,
          text: source.slice(0, index) + put + source.slice(index + all.length),
        }
      }),
  )
  // What several of them make counts as the work of the first.
  return [...new Map(found.toReversed().map((one) => [one.text, one])).values()].toReversed()
}
