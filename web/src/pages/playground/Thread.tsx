import { MessagesSquare } from 'lucide-react'
import type { RefObject } from 'react'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { counted } from '../../format/number.ts'
import { AnswerMessage } from './AnswerMessage.tsx'
import { praiseOf } from './answer-facts.ts'
import {
  awaitedCalls,
  roundsOf,
  type AnswerTurn,
  type Round,
  type RoundPart,
  type ToolTurn,
} from './conversation.ts'
import { SUGGESTIONS } from './suggestions.ts'
import { ToolResults } from './ToolResults.tsx'
import { UserMessage } from './UserMessage.tsx'
import type { PlaygroundView } from './use-playground.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly view: PlaygroundView
  readonly onSuggest: (text: string) => void
  /** A saved prompt is being filled in, so no suggestions are shown. */
  readonly hasPrompt: boolean
  /** The element at the end of the thread. */
  readonly end: RefObject<HTMLDivElement | null>
}

export function Thread({ view, onSuggest, hasPrompt, end }: Props) {
  const { conversation } = view
  const rounds = roundsOf(conversation.lanes)
  return (
    <div
      role="region"
      aria-label={t('Conversa')}
      // Focusable, so that it scrolls by keyboard.
      tabIndex={0}
      className="relative min-h-0 grow p-4 md:p-6 lg:overflow-y-auto"
    >
      {rounds.length === 0 && !hasPrompt && (
        <div className="flex h-full items-center justify-center">
          <NothingSaid onSuggest={onSuggest} />
        </div>
      )}
      <ol className="grid gap-6">
        {rounds.map((round, place) => (
          <li key={round.user?.id ?? place} className="grid min-w-0 gap-6">
            <RoundView round={round} isLast={place === rounds.length - 1} view={view} />
          </li>
        ))}
      </ol>
      <Announcement view={view} />
      <div ref={end} aria-hidden="true" className="h-4 scroll-mb-52 lg:scroll-mb-0" />
    </div>
  )
}

/** By the number of answers side by side. */
const COLUMNS = ['', '', 'lg:grid-cols-2', 'lg:grid-cols-3', 'lg:grid-cols-2 xl:grid-cols-4']

interface RoundProps {
  readonly round: Round
  readonly isLast: boolean
  readonly view: PlaygroundView
}

function RoundView({ round: { user, parts }, isLast, view }: RoundProps) {
  const { asked, isRunning, playground } = view
  const isCompared = parts.length > 1
  const answers = parts.flatMap(
    ({ turns }) => turns.findLast((turn) => turn.kind === 'answer') ?? [],
  )
  const praise = praiseOf(answers.flatMap((turn) => (turn.kind === 'answer' ? [turn] : [])))
  return (
    <>
      {user && (
        <UserMessage
          turn={user}
          onSendInstead={
            asked && !isRunning ? (text) => playground.sendInstead(user.id, text, asked) : undefined
          }
        />
      )}
      <div className={`grid items-start gap-6 ${COLUMNS[parts.length] ?? ''}`}>
        {parts.map((part) => (
          <div
            key={part.laneId}
            className={`grid min-w-0 gap-6 ${isCompared ? 'rounded-lg border border-line p-4' : ''}`}
          >
            <PartView
              part={part}
              isLast={isLast}
              praise={isCompared ? praise : undefined}
              view={view}
            />
          </div>
        ))}
      </div>
    </>
  )
}

interface PartProps {
  readonly part: RoundPart
  readonly isLast: boolean
  /** Of answers that are compared. */
  readonly praise: ReadonlyMap<string, readonly string[]> | undefined
  readonly view: PlaygroundView
}

function PartView({ part: { laneId, turns }, isLast, praise, view }: PartProps) {
  const { asked, isRunning, playground, models } = view
  const awaited = isLast ? awaitedCalls(turns) : []
  return (
    <>
      {turns.map((turn, place) => {
        if (turn.kind === 'tool') return <ToolResult key={turn.id} turn={turn} />
        const isEnd = isLast && place === turns.length - 1
        return (
          <AnswerMessage
            key={turn.id}
            answer={turn}
            modelName={models.find(({ id }) => id === turn.model)?.display_name ?? turn.model}
            comparison={praise && { praise: praise.get(turn.id) ?? [] }}
            onRegenerate={
              isEnd && asked && !isRunning ? () => playground.regenerate(laneId, asked) : undefined
            }
            onRewrite={
              isEnd && !isRunning ? (text) => playground.rewrite(turn.id, text) : undefined
            }
          />
        )
      })}
      {awaited.length > 0 && (
        <ToolResults
          key={turns.at(-1)?.id}
          calls={awaited}
          isDisabled={!asked || isRunning}
          onSubmit={(results) => asked && playground.answerCalls(laneId, results, asked)}
        />
      )}
    </>
  )
}

function ToolResult({ turn }: { readonly turn: ToolTurn }) {
  return (
    <div className="flex flex-col items-end">
      <div className="max-w-[85%] rounded-2xl rounded-br-sm bg-accent-soft px-4 py-2.5">
        <p className="text-xs text-muted">
          <Trans id="{code} devolveu" values={{ code: <code>{turn.call.name}</code> }} />
        </p>
        <p className="font-mono text-sm wrap-anywhere whitespace-pre-wrap">{turn.text}</p>
      </div>
    </div>
  )
}

/** Longer answers are not announced in full: a listener could not stop them, and the text stands above. */
const ANNOUNCED_MAX = 4_000

/** Announces to screen readers that an answer is being written, and then its text. */
function Announcement({ view: { lanes, isRunning } }: { readonly view: PlaygroundView }) {
  const isCompared = lanes.length > 1
  let text = ''
  if (isRunning) text = isCompared ? t('Escrevendo as respostas…') : t('Escrevendo a resposta…')
  else
    text = lanes
      .map(({ lane, model, modelId }) => {
        const last = lane.turns.at(-1)
        if (last?.kind !== 'answer') return ''
        const of = isCompared
          ? t(' de {displayName}', { displayName: model?.display_name ?? modelId })
          : ''
        return t('Resposta{of}: {last}', { of, last: announced(last) })
      })
      .join(' ')
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {text}
    </p>
  )
}

function announced({ text, toolCalls, images, error, state }: AnswerTurn): string {
  const calls = toolCalls.map(({ name }) => t('Chamou {name}.', { name })).join(' ')
  const drawn = images ? counted(images.length, t('imagem'), t('imagens')) : ''
  const end = state === 'stopped' ? t('Resposta parada.') : ''
  return [text.slice(0, ANNOUNCED_MAX), calls, drawn, error?.text, end].filter(Boolean).join(' ')
}

function NothingSaid({ onSuggest }: { readonly onSuggest: (text: string) => void }) {
  return (
    <EmptyState
      icon={<MessagesSquare className="size-6" />}
      title={t('Converse com um modelo')}
      action={
        <ul className="flex flex-wrap justify-center gap-2">
          {SUGGESTIONS().map(({ title, text }) => (
            <li key={title}>
              <Button variant="secondary" onClick={() => onSuggest(text)}>
                {title}
              </Button>
            </li>
          ))}
        </ul>
      }
    >
      {t(
        'Cada resposta mostra quanto custou, na hora. Comece por uma destas ou escreva a sua. Em “Comparar”, até quatro modelos respondem à mesma mensagem, lado a lado.',
      )}
    </EmptyState>
  )
}
