import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { useToast } from '../../components/Toast.tsx'
import { dateTime } from '../../format/date.ts'
import { amount } from '../usage/charge-words.ts'
import { sumOf } from './ConversationCost.tsx'
import { deleteSaved, readSaved, type SavedHead } from './history.ts'
import { HISTORY, historyQuery } from './history-query.ts'
import type { PlaygroundView } from './use-playground.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly view: PlaygroundView
}

export function History(props: Props) {
  return (
    <Dialog
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t('Histórico')}
      description={t(
        'As últimas 100 conversas, só neste navegador. Ao sair da conta, elas são apagadas.',
      )}
      className="sm:max-w-xl!"
    >
      <SavedConversations {...props} />
    </Dialog>
  )
}

function SavedConversations({ view: { customerId, playground, conversation }, onClose }: Props) {
  const queries = useQueryClient()
  const toast = useToast()
  const [asksForAll, setAsksForAll] = useState(false)
  const { data: saved } = useQuery(historyQuery(customerId))
  const open = async ({ id }: SavedHead): Promise<void> => {
    const found = await readSaved(customerId, id)
    if (!found) return toast(t('Esta conversa não está mais neste navegador.'), 'danger')
    playground.open(found)
    onClose()
  }
  const remove = async (ids: readonly string[]): Promise<void> => {
    try {
      await deleteSaved(customerId, ids)
    } catch (error) {
      toast(explainError(error), 'danger')
    }
    // Otherwise the next answer would save it again.
    if (ids.includes(conversation.id)) playground.clear()
    await queries.invalidateQueries({ queryKey: HISTORY })
  }
  if (!saved) return <SkeletonRows rows={4} label={t('Carregando o histórico')} />
  if (saved.length === 0)
    return (
      <p className="text-sm text-muted">{t('Nenhuma conversa ainda. A primeira aparece aqui.')}</p>
    )
  return (
    <div className="grid gap-4">
      <ul className="divide-y divide-line">
        {saved.map((head) => (
          <li key={head.id} className="flex items-center gap-2">
            <button
              type="button"
              onClick={() => void open(head)}
              className="grid min-h-11 min-w-0 grow rounded-lg px-2 py-2 text-left hover:bg-sunken"
            >
              <span className="truncate text-sm font-medium">
                {head.title || t('Sem texto')}
                {head.id === conversation.id && (
                  <span className="font-normal text-muted">{t(' · aberta')}</span>
                )}
              </span>
              <span className="truncate text-xs text-muted tabular-nums">
                {[
                  dateTime(new Date(head.savedAt)),
                  head.costs.length > 0 && amount(sumOf(head.costs)),
                  head.models.join(', '),
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </button>
            <button
              type="button"
              aria-label={t('Apagar a conversa {title}', { title: head.title })}
              onClick={() => void remove([head.id])}
              className="inline-grid size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-danger"
            >
              <Trash2 aria-hidden="true" className="size-4" />
            </button>
          </li>
        ))}
      </ul>
      <Button
        variant="secondary"
        className="justify-self-start"
        onClick={() => setAsksForAll(true)}
      >
        {t('Apagar tudo')}
      </Button>
      <ConfirmDialog
        isOpen={asksForAll}
        onClose={() => setAsksForAll(false)}
        onConfirm={() => {
          setAsksForAll(false)
          void remove(saved.map(({ id }) => id))
        }}
        title={t('Apagar todas as conversas?')}
        confirmText={t('Apagar tudo')}
      >
        <p className="text-sm">
          {t('Elas só existem neste navegador. O que custaram continua em Uso.')}
        </p>
      </ConfirmDialog>
    </div>
  )
}
