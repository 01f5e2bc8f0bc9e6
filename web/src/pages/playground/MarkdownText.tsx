/**
 * Renders an answer. A model's output is hostile input: HTML in it is shown as text, nothing is loaded from an address
 * in it, and only links to other sites can be followed.
 */
import { memo, type ComponentProps } from 'react'
import Markdown, { type Components, type ExtraProps } from 'react-markdown'
import rehypeHighlight from 'rehype-highlight'
import remarkGfm from 'remark-gfm'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { FormulaView } from './FormulaView.tsx'
import { countTextsToRead, putFormulas, takeFormulas } from './formulas.ts'
import { classNames } from '../../lib/class-names.ts'
import { blocksOf, type MarkdownBlock } from './markdown-blocks.ts'
import { PlainOnFault } from './PlainOnFault.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly text: string
  /** The last block is still being written: it is highlighted when it is complete. */
  readonly isOpen: boolean
}

export function MarkdownText({ text, isOpen }: Props) {
  const blocks = blocksOf(text)
  const read = countTextsToRead(blocks.map((block) => block.text))
  return (
    <div className="grid min-w-0 gap-3 leading-relaxed">
      {blocks.map((block, place) => (
        <Block
          key={place}
          {...block}
          isOpen={isOpen && place === blocks.length - 1}
          hasFormulas={place < read}
        />
      ))}
    </div>
  )
}

const Block = memo(function Block({
  kind,
  text,
  isOpen,
  hasFormulas,
}: MarkdownBlock & { readonly isOpen: boolean; readonly hasFormulas: boolean }) {
  if (kind === 'plain') return <PlainText text={text} />
  const taken = hasFormulas ? takeFormulas(text) : { text, formulas: [] }
  return (
    <PlainOnFault plain={<PlainText text={text} />}>
      {/* What a formula draws beside its place is cut off. */}
      <div
        className={classNames(
          'grid min-w-0 gap-3 wrap-anywhere',
          taken.formulas.length > 0 && 'relative overflow-x-auto',
        )}
      >
        <Markdown
          remarkPlugins={[remarkGfm, putFormulas(taken)]}
          rehypePlugins={isOpen ? [] : [rehypeHighlight]}
          remarkRehypeOptions={{
            footnoteLabel: t('Notas'),
            footnoteBackLabel: t('Voltar ao texto'),
          }}
          urlTransform={foreignUrl}
          components={COMPONENTS_AND_FORMULAS}
        >
          {taken.text}
        </Markdown>
      </div>
    </PlainOnFault>
  )
})

function PlainText({ text }: { readonly text: string }) {
  return <p className="min-w-0 wrap-anywhere whitespace-pre-wrap">{text}</p>
}

/** An address within this dashboard would act with the reader's session. */
export function foreignUrl(address: string): string {
  const url = URL.parse(address)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return isWeb && url.origin !== globalThis.location?.origin ? url.href : ''
}

const HEADING = 'mt-1 font-semibold first:mt-0'

/** Headings of an answer are no headings of this page. */
const COMPONENTS: Components = {
  h1: ({ children }) => <p className={`text-lg ${HEADING}`}>{children}</p>,
  h2: ({ children }) => <p className={`text-base ${HEADING}`}>{children}</p>,
  h3: ({ children }) => <p className={HEADING}>{children}</p>,
  h4: ({ children }) => <p className={HEADING}>{children}</p>,
  h5: ({ children }) => <p className={HEADING}>{children}</p>,
  h6: ({ children }) => <p className={HEADING}>{children}</p>,
  p: ({ children }) => <p className="min-w-0 whitespace-pre-wrap">{children}</p>,
  ul: ({ children }) => <ul className="grid list-disc gap-1 pl-6">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="grid list-decimal gap-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="min-w-0 space-y-2">{children}</li>,
  blockquote: ({ children }) => (
    <blockquote className="grid min-w-0 gap-3 border-l-2 border-line-strong pl-4 text-muted">
      {children}
    </blockquote>
  ),
  hr: () => <hr className="border-line" />,
  a: Anchor,
  img: ({ src, alt }) => (
    <Anchor href={typeof src === 'string' ? src : ''}>
      {t('[imagem de outro site{word}]', { word: alt ? `: ${alt}` : '' })}
    </Anchor>
  ),
  // The checkbox of a task list.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'}</span>,
  table: ({ children }) => (
    // Focusable, so that it scrolls by keyboard. No landmark: an answer may have many tables.
    <div
      role="group"
      aria-label={t('Tabela')}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="min-w-0 overflow-x-auto rounded-lg border border-line"
    >
      <table className="w-full text-sm wrap-normal">{children}</table>
    </div>
  ),
  th: ({ children, style }) => (
    <th scope="col" style={style} className="border-b border-line bg-sunken px-3 py-2 text-left">
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td style={style} className="border-b border-line px-3 py-2 align-top">
      {children}
    </td>
  ),
  code: ({ children }) => (
    <code className="rounded bg-sunken px-1 py-0.5 [pre_&]:p-0">{children}</code>
  ),
  pre: CodeBlock,
}
/** `formula` is of `putFormulas`, and no element of HTML. */
const COMPONENTS_AND_FORMULAS = { ...COMPONENTS, formula: FormulaView }

function Anchor({ href, children }: Pick<ComponentProps<'a'>, 'href' | 'children'>) {
  if (!href) return <span>{children}</span>
  return (
    <a
      href={href}
      // Its text may name another site.
      title={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline underline-offset-4"
    >
      {children}
    </a>
  )
}

function CodeBlock({ node, children }: ComponentProps<'pre'> & ExtraProps) {
  const code = node?.children[0]
  const classes = code?.type === 'element' ? code.properties.className : undefined
  const language = (Array.isArray(classes) ? classes.map(String) : [])
    .find((name) => name.startsWith('language-'))
    ?.slice('language-'.length)
  const name = language || t('código')
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex items-center justify-between border-b border-line py-1 pr-1 pl-4 text-xs text-muted">
        {name}
        <CopyIcon text={textOf(code).replace(/\n$/, '')} label={t('Copiar {name}', { name })} />
      </div>
      {/* Focusable, so that it scrolls by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={name} className="overflow-x-auto p-4 text-sm leading-relaxed">
        {children}
      </pre>
    </div>
  )
}

function textOf(node: NonNullable<ExtraProps['node']>['children'][number] | undefined): string {
  if (node?.type === 'text') return node.value
  return node?.type === 'element' ? node.children.map(textOf).join('') : ''
}
