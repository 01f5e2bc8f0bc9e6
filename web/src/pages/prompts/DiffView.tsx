import { useMemo, useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { counted } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import { diffLines, type DiffLine } from '../../lib/diff-lines.ts'
import { foldSame } from './fold-same.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** More lines take the browser noticeably long to render. */
const SHOWN_MAX = 1_000

/** Colour is not the only distinction: each line has a sign, and a word for screen readers. */
const LOOKS = perLanguage(
  () =>
    ({
      same: { row: '', sign: ' ', words: '' },
      removed: { row: 'bg-danger-soft', sign: '−', words: t('Removida: ') },
      added: { row: 'bg-success-soft', sign: '+', words: t('Incluída: ') },
    }) as const,
)

export function DiffView({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after])
  const [isWhole, setWhole] = useState(false)
  const [shownMax, setShownMax] = useState(SHOWN_MAX)
  const shown = useMemo(
    () => (isWhole ? lines.map((line) => ({ kind: 'line', line }) as const) : foldSame(lines)),
    [isWhole, lines],
  )
  const isFolded = shown.some(({ kind }) => kind === 'hidden')
  return (
    <div className="grid gap-3">
      <p role="status" className="text-sm text-muted">
        {summaryOf(lines)}
      </p>
      <ul
        aria-label={t('Diferenças, linha por linha')}
        className="overflow-hidden rounded-lg border border-line font-mono text-sm"
      >
        {shown.slice(0, shownMax).map((each, place) =>
          each.kind === 'line' ? (
            <Line key={place} line={each.line} />
          ) : (
            <li key={place} className="bg-sunken px-3 py-1 text-center text-xs text-muted">
              {counted(each.count, t('linha igual'), t('linhas iguais'))}
            </li>
          ),
        )}
      </ul>
      <div className="flex flex-wrap gap-3">
        {shown.length > shownMax && (
          <Button variant="secondary" onClick={() => setShownMax(shownMax + SHOWN_MAX)}>
            {t('Mostrar mais linhas')}
          </Button>
        )}
        {(isFolded || isWhole) && (
          <Button variant="secondary" onClick={() => setWhole(!isWhole)}>
            {isWhole ? t('Mostrar só o que mudou') : t('Mostrar o texto inteiro')}
          </Button>
        )}
      </div>
    </div>
  )
}

function Line({ line }: { readonly line: DiffLine }) {
  const { kind, parts, numberBefore, numberAfter } = line
  const { row, sign, words } = LOOKS()[kind]
  const Mark = kind === 'removed' ? 'del' : 'ins'
  return (
    <li className={classNames('grid grid-cols-[2.5rem_1.25rem_minmax(0,1fr)] px-1', row)}>
      <span aria-hidden="true" className="pr-2 text-right text-xs leading-6 text-muted">
        {numberAfter ?? numberBefore}
      </span>
      <span aria-hidden="true" className="text-center leading-6 select-none">
        {sign}
      </span>
      <span className="leading-6 break-words whitespace-pre-wrap">
        {words !== '' && <span className="sr-only">{words}</span>}
        {parts.map(({ text, isChanged }, place) =>
          isChanged ? (
            <Mark
              key={place}
              className={classNames(
                'rounded-sm font-semibold underline decoration-2 underline-offset-4',
                kind === 'removed'
                  ? 'text-danger decoration-danger'
                  : 'text-success decoration-success',
              )}
            >
              {text}
            </Mark>
          ) : (
            <span key={place}>{text}</span>
          ),
        )}
      </span>
    </li>
  )
}

function summaryOf(lines: readonly DiffLine[]): string {
  const countOf = (wanted: DiffLine['kind']): number =>
    lines.filter(({ kind }) => kind === wanted).length
  const added = countOf('added')
  const removed = countOf('removed')
  if (added + removed === 0) return t('Os dois textos são iguais.')
  return `${counted(added, t('linha incluída'), t('linhas incluídas'))}, ${counted(removed, t('removida'), t('removidas'))}.`
}
