import { SendHorizontal, Square } from 'lucide-react'
import { useId, type RefObject } from 'react'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { classNames } from '../../lib/class-names.ts'
import { PromptFields } from './PromptFields.tsx'
import type { Draft } from './use-draft.ts'
import { ConversationCost } from './ConversationCost.tsx'
import { NoPayingKey } from './NoPayingKey.tsx'
import { readTools } from './tools-text.ts'
import type { PlaygroundView } from './use-playground.ts'

interface Props {
  readonly view: PlaygroundView
  readonly draft: Draft
  readonly field: RefObject<HTMLTextAreaElement | null>
  /** Undefined while the end is visible. */
  readonly goToEnd: (() => void) | undefined
}

export function Composer({ view, draft, field, goToEnd }: Props) {
  const { asked, isRunning, playground, keys } = view
  const id = useId()
  const hasCost = view.conversation.costs.length > 0
  if (keys.length === 0)
    return (
      <div className="rounded-b-card border-t border-line bg-surface p-4 md:px-6">
        <NoPayingKey />
      </div>
    )
  const send = (): void => {
    const text = asked && !isRunning ? draft.take() : undefined
    if (asked && text !== undefined) playground.send(text, asked)
  }
  return (
    <form
      aria-label="Nova mensagem"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      className="sticky bottom-14 z-10 grid gap-3 rounded-b-card border-t border-line bg-surface p-4 md:bottom-0 md:px-6 lg:relative"
    >
      {goToEnd && (
        <Button
          variant="secondary"
          className="absolute -top-13 left-1/2 -translate-x-1/2 shadow-lg md:-top-12"
          onClick={goToEnd}
        >
          Ir para o fim
        </Button>
      )}
      <Faults view={view} />
      <PromptFields draft={draft} />
      <div className="flex items-end gap-2 rounded-xl border border-line-strong bg-surface p-1.5 has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-offset-1 has-[textarea:focus-visible]:outline-accent">
        <textarea
          ref={field}
          aria-label="Mensagem"
          aria-describedby={id}
          rows={1}
          placeholder="Escreva sua mensagem"
          value={draft.text}
          onChange={(event) => draft.write(event.target.value)}
          onKeyDown={(event) => {
            // Enter also ends a composition of several keys, such as an accented letter.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            send()
          }}
          className="field-sizing-content max-h-52 min-h-11 min-w-0 grow resize-none bg-transparent px-2.5 py-2.5 text-base outline-none placeholder:text-muted md:min-h-10 md:py-2 md:text-sm"
        />
        {/* A single button for both actions, so that it keeps the focus. */}
        <Button
          type={isRunning ? 'button' : 'submit'}
          variant={isRunning ? 'secondary' : 'primary'}
          disabled={!isRunning && (!asked || draft.text.trim() === '')}
          onClick={isRunning ? playground.stop : undefined}
          icon={
            isRunning ? (
              <Square aria-hidden="true" className="size-3.5 fill-current" />
            ) : (
              <SendHorizontal aria-hidden="true" className="size-4" />
            )
          }
        >
          <span className="max-sm:sr-only">{isRunning ? 'Parar' : 'Enviar'}</span>
        </Button>
      </div>
      <p id={id} className={classNames('text-xs text-muted', hasCost && 'sr-only')}>
        Enter envia, Shift+Enter quebra a linha.
      </p>
      <ConversationCost conversation={view.conversation} />
    </form>
  )
}

/** The faults to correct before a message can be sent. */
function Faults({ view: { settings, model, models, apiKey } }: { readonly view: PlaygroundView }) {
  if ('fault' in readTools(settings.tools))
    return (
      <Notice tone="warning">As ferramentas em Ajustes têm um erro. Corrija para enviar.</Notice>
    )
  if (models.length === 0)
    return (
      <Notice tone="warning">
        A chave {apiKey?.name} não dá acesso a nenhum modelo de chat. Escolha outra.
      </Notice>
    )
  if (!model && settings.model !== '')
    return (
      <Notice tone="warning">
        {apiKey?.model_ids
          ? `A chave ${apiKey.name} não usa ${settings.model}. Troque o modelo ou a chave.`
          : `${settings.model} não está no catálogo. Escolha outro modelo.`}
      </Notice>
    )
  return null
}
