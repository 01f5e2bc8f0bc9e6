import { memo } from 'react'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { blocksOf, piecesOf, type Block } from './rich-text.ts'

/** Renders an answer as text with separate code blocks, never as HTML. */
export function RichText({ text }: { readonly text: string }) {
  return (
    <div className="grid min-w-0 gap-3 leading-relaxed">
      {blocksOf(text).map((block, place) =>
        block.kind === 'code' ? (
          <Code key={place} language={block.language} code={block.code} />
        ) : (
          <Paragraph key={place} text={block.text} />
        ),
      )}
    </div>
  )
}

const Paragraph = memo(function Paragraph({ text }: { readonly text: string }) {
  return (
    <p className="min-w-0 wrap-anywhere whitespace-pre-wrap">
      {piecesOf(text).map(({ kind, text: piece }, place) => {
        if (kind === 'bold') return <strong key={place}>{piece}</strong>
        if (kind === 'text') return piece
        return (
          <code key={place} className="rounded bg-sunken px-1 py-0.5">
            {piece}
          </code>
        )
      })}
    </p>
  )
})

const Code = memo(function Code({
  language,
  code,
}: Omit<Extract<Block, { kind: 'code' }>, 'kind'>) {
  const name = language === '' ? 'código' : language
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex items-center justify-between border-b border-line py-1 pr-1 pl-4 text-xs text-muted">
        {name}
        <CopyIcon text={code} label={`Copiar ${name}`} />
      </div>
      {/* Focusable, so that it scrolls by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={name} className="overflow-x-auto p-4 text-sm leading-relaxed">
        <code>{code}</code>
      </pre>
    </div>
  )
})
