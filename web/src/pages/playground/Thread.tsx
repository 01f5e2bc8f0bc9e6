import { MessagesSquare } from 'lucide-react'
import type { RefObject } from 'react'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { AnswerMessage } from './AnswerMessage.tsx'
import { awaitedCalls, type Turn } from './conversation.ts'
import { SUGGESTIONS } from './suggestions.ts'
import { ToolResults } from './ToolResults.tsx'
import { UserMessage } from './UserMessage.tsx'
import type { PlaygroundView } from './use-playground.ts'

interface Props {
  readonly view: PlaygroundView
  readonly onSuggest: (text: string) => void
  /** A saved prompt is being filled in, so no suggestions are shown. */
  readonly hasPrompt: boolean
  /** The element at the end of the thread. */
  readonly end: RefObject<HTMLDivElement | null>
}

export function Thread({ view, onSuggest, hasPrompt, end }: Props) {
  const { conversation, asked, isRunning, playground } = view
  const { turns } = conversation
  const awaited = awaitedCalls(turns)
  return (
    <div
      role="region"
      aria-label="Conversa"
      // Focusable, so that it scrolls by keyboard.
      tabIndex={0}
      className="relative min-h-0 grow p-4 md:p-6 lg:overflow-y-auto"
    >
      {turns.length === 0 && !hasPrompt && (
        <div className="flex h-full items-center justify-center">
          <NothingSaid onSuggest={onSuggest} />
        </div>
      )}
      <ol className="grid gap-6">
        {turns.map((turn, place) => (
          <li key={turn.id} className="min-w-0">
            <TurnView turn={turn} isLast={place === turns.length - 1} view={view} />
          </li>
        ))}
      </ol>
      {awaited.length > 0 && (
        <div className="mt-4">
          <ToolResults
            key={turns.at(-1)?.id}
            calls={awaited}
            isDisabled={!asked || isRunning}
            onSubmit={(results) => asked && playground.answerCalls(results, asked)}
          />
        </div>
      )}
      <Announcement view={view} />
      <div ref={end} aria-hidden="true" className="h-4 scroll-mb-52 lg:scroll-mb-0" />
    </div>
  )
}

interface TurnProps {
  readonly turn: Turn
  readonly isLast: boolean
  readonly view: PlaygroundView
}

function TurnView({ turn, isLast, view }: TurnProps) {
  const { asked, isRunning, playground, models } = view
  const mayAsk = asked && !isRunning
  if (turn.kind === 'user')
    return (
      <UserMessage
        text={turn.text}
        onSendInstead={mayAsk ? (text) => playground.sendInstead(turn.id, text, asked) : undefined}
      />
    )
  if (turn.kind === 'tool')
    return (
      <div className="flex flex-col items-end">
        <div className="max-w-[85%] rounded-2xl rounded-br-sm bg-accent-soft px-4 py-2.5">
          <p className="text-xs text-muted">
            <code>{turn.call.name}</code> devolveu
          </p>
          <p className="font-mono text-sm wrap-anywhere whitespace-pre-wrap">{turn.text}</p>
        </div>
      </div>
    )
  const model = models.find(({ id }) => id === turn.model)
  return (
    <AnswerMessage
      answer={turn}
      modelName={model?.display_name ?? turn.model}
      onRegenerate={isLast && mayAsk ? () => playground.regenerate(asked) : undefined}
      onRewrite={isLast && !isRunning ? (text) => playground.rewrite(turn.id, text) : undefined}
    />
  )
}

/** Longer answers are not announced in full: a listener could not stop them, and the text stands above. */
const ANNOUNCED_MAX = 4_000

/** Announces to screen readers that an answer is being written, and then its text. */
function Announcement({ view: { conversation, isRunning } }: { readonly view: PlaygroundView }) {
  const last = conversation.turns.at(-1)
  let text = ''
  if (isRunning) text = 'Escrevendo a resposta…'
  else if (last?.kind === 'answer') {
    const calls = last.toolCalls.map(({ name }) => `Chamou ${name}.`).join(' ')
    text = `Resposta: ${last.text.slice(0, ANNOUNCED_MAX)} ${calls} ${last.error?.text ?? ''}`
    if (last.state === 'stopped') text += ' Resposta parada.'
  }
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {text}
    </p>
  )
}

function NothingSaid({ onSuggest }: { readonly onSuggest: (text: string) => void }) {
  return (
    <EmptyState
      icon={<MessagesSquare className="size-6" />}
      title="Converse com um modelo"
      action={
        <ul className="flex flex-wrap justify-center gap-2">
          {SUGGESTIONS.map(({ title, text }) => (
            <li key={title}>
              <Button variant="secondary" onClick={() => onSuggest(text)}>
                {title}
              </Button>
            </li>
          ))}
        </ul>
      }
    >
      Cada resposta mostra quanto custou, na hora. Comece por uma destas ou escreva a sua.
    </EmptyState>
  )
}
