import { Link } from '@tanstack/react-router'
import { Pencil, RotateCcw } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Badge } from '../../components/Badge.tsx'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { Disclosure } from '../../components/Disclosure.tsx'
import { Notice } from '../../components/Notice.tsx'
import { AnswerImages } from './AnswerImages.tsx'
import type { AnswerTurn } from './conversation.ts'
import { answerFacts, answerFigures } from './answer-facts.ts'
import { wayOut } from './explain-chat-error.ts'
import { IconAction } from './IconAction.tsx'
import { RichText } from './RichText.tsx'
import { TextEditor } from './TextEditor.tsx'
import { ToolCallView } from './ToolCallView.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly answer: AnswerTurn
  readonly modelName: string
  /** Defined for the last answer while another one can be requested. */
  readonly onRegenerate: (() => void) | undefined
  readonly onRewrite: ((text: string) => void) | undefined
  /** Beside answers of other models: what this one is best at. */
  readonly comparison?: { readonly praise: readonly string[] } | undefined
}

export function AnswerMessage({ answer, modelName, onRegenerate, onRewrite, comparison }: Props) {
  const [isEditing, setEditing] = useState(false)
  const { text, reasoning, toolCalls, state } = answer
  const isWaiting = state === 'running' && text === '' && toolCalls.length === 0
  return (
    <div className="grid min-w-0 gap-2">
      <p className="flex flex-wrap items-center gap-2 text-xs font-semibold text-muted">
        {modelName}
        {comparison?.praise.map((praise) => (
          <Badge key={praise} tone="accent">
            {praise}
          </Badge>
        ))}
      </p>
      {reasoning !== '' && (
        <Disclosure summary={isWaiting ? t('Raciocinando…') : t('Raciocínio')}>
          <p className="border-l-2 border-line pl-4 wrap-anywhere whitespace-pre-wrap text-muted">
            {reasoning}
          </p>
        </Disclosure>
      )}
      {isWaiting && <Typing />}
      {isEditing ? (
        <TextEditor
          label={t('A resposta')}
          text={text}
          submitLabel={t('Salvar resposta')}
          onCancel={() => setEditing(false)}
          onSubmit={(changed) => {
            setEditing(false)
            onRewrite?.(changed)
          }}
        />
      ) : (
        text !== '' && (
          <Suspense fallback={null}>
            <RichText text={text} isOpen={state === 'running'} />
          </Suspense>
        )
      )}
      {answer.images && <AnswerImages images={answer.images} modelName={modelName} />}
      {toolCalls.map((call, place) => (
        <ToolCallView key={call.id || place} call={call} />
      ))}
      <Ending answer={answer} />
      {state !== 'running' && !isEditing && (
        <div className="flex flex-wrap items-center gap-x-1 gap-y-1">
          {comparison ? (
            <Figures answer={answer} />
          ) : (
            <p className="mr-2 text-xs text-muted tabular-nums">
              {answerFacts(answer).join(' · ')}
            </p>
          )}
          <div className="-ml-3.5 flex md:ml-0">
            {text !== '' && <CopyIcon text={text} label={t('Copiar resposta')} />}
            {onRegenerate && (
              <IconAction icon={RotateCcw} label={t('Gerar de novo')} onClick={onRegenerate} />
            )}
            {onRewrite && text !== '' && (
              <IconAction
                icon={Pencil}
                label={t('Editar resposta')}
                onClick={() => setEditing(true)}
              />
            )}
          </div>
        </div>
      )}
    </div>
  )
}

/** The same figures in the same places, to be compared with the answer beside it. */
function Figures({ answer }: { readonly answer: AnswerTurn }) {
  return (
    <dl className="grid w-full grid-cols-2 gap-x-4 gap-y-1 rounded-lg bg-sunken px-3 py-2 text-xs">
      {answerFigures(answer).map(([name, value]) => (
        <div key={name} className="flex flex-wrap justify-between gap-x-2">
          <dt className="text-muted">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Why an answer is incomplete or failed. */
function Ending({ answer: { state, error, finish } }: { readonly answer: AnswerTurn }) {
  if (state === 'stopped')
    return (
      <Notice tone="warning">
        {t(
          'Você parou esta resposta. O que o modelo gerou é cobrado, inclusive o que não apareceu aqui.',
        )}
      </Notice>
    )
  if (state === 'failed' && error) {
    const way = wayOut(error.code)
    return (
      <Notice tone="danger">
        {error.text}
        {way && (
          <>
            {' '}
            <Link to={way.to} className="whitespace-nowrap underline underline-offset-4">
              {way.text}
            </Link>
          </>
        )}
      </Notice>
    )
  }
  if (finish === 'length')
    return (
      <Notice tone="warning">
        {t('A resposta chegou ao máximo de tokens e foi cortada. Aumente o máximo em Ajustes.')}
      </Notice>
    )
  if (finish === 'content_filter')
    return (
      <Notice tone="warning">{t('O fabricante do modelo filtrou parte desta resposta.')}</Notice>
    )
  return null
}

function Typing() {
  return (
    <span aria-hidden="true" className="flex h-6 items-center gap-1.5">
      {['', '[animation-delay:150ms]', '[animation-delay:300ms]'].map((delay) => (
        <span key={delay} className={`size-2 animate-pulse rounded-full bg-line-strong ${delay}`} />
      ))}
    </span>
  )
}
