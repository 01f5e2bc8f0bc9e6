import { lazy, memo, Suspense, type ReactNode } from 'react'
import { t } from '../../language/t.ts'
import type { Formula } from './formulas.ts'

/** The library is loaded with the first formula. Without it, formulas are shown as they are written. */
const MathMl = lazy(async () => {
  const [{ mathMlOf }] = await Promise.all([
    import('./math-ml.ts'),
    import('temml/dist/Temml-Local.css'),
    import('./formulas.css'),
  ]).catch(() => [{ mathMlOf: () => undefined }])
  return {
    default: ({ source, tex, isBlock }: Formula): ReactNode =>
      mathMlOf(tex, isBlock) ?? <Written source={source} />,
  }
})

export const FormulaView = memo(function FormulaView(formula: Formula) {
  const drawn = (
    <Suspense fallback={<Written source={formula.source} />}>
      <MathMl {...formula} />
    </Suspense>
  )
  if (!formula.isBlock) return drawn
  return (
    // Focusable, so that it scrolls by keyboard. Not a <div>, since it stands in paragraphs.
    <span
      role="group"
      aria-label={t('Fórmula')}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="block overflow-x-auto py-1"
    >
      {drawn}
    </span>
  )
})

function Written({ source }: { readonly source: string }) {
  return <span className="whitespace-pre-wrap">{source}</span>
}
