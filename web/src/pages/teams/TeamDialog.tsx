import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { AmountInput } from '../../components/AmountInput.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { typedAmount } from '../../format/typed-amount.ts'
import { formText } from '../../lib/form-text.ts'
import { useTeamAct, type Team } from './team-queries.ts'
import { readCap, teamNameFault } from './team-words.ts'
import { t } from '../../language/t.ts'

interface TeamDialogProps {
  /** Undefined: a new team. */
  readonly team?: Team
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onMade?: (team: Team) => void
}

export function TeamDialog({ team, isOpen, onClose, onMade }: TeamDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={team ? t('Alterar equipe') : t('Criar equipe')}
      {...(team
        ? {}
        : {
            description: t(
              'As chaves da equipe gastam o seu saldo, até o limite que você definir.',
            ),
          })}
    >
      <TeamForm
        {...(team ? { team } : {})}
        onClose={onClose}
        onSaved={(saved) => {
          onClose()
          if (!team) onMade?.(saved)
        }}
      />
    </Dialog>
  )
}

interface TeamFormProps {
  readonly team?: Team
  readonly onClose: () => void
  readonly onSaved: (team: Team) => void
}

interface Input {
  readonly name: string
  /** Only the owner changes it. */
  readonly monthly_cap_brl?: number | null
}

function TeamForm({ team, onClose, onSaved }: TeamFormProps) {
  const isOwner = !team || team.role === 'owner'
  const [faults, setFaults] = useState<{ name?: string; cap?: string }>({})
  const save = useTeamAct({
    act: (input: Input, once): Promise<Team> =>
      team
        ? api.patch('/me/teams/{id}', input, { path: { id: team.id } })
        : api.post('/me/teams', input, { once }),
    done: () => (team ? t('Equipe alterada.') : t('Equipe criada.')),
    onDone: onSaved,
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = event.currentTarget
    const fields = new FormData(form)
    const name = formText(fields, 'name')
    const cap = isOwner ? readCap(formText(fields, 'cap')) : undefined
    const nameFault = teamNameFault(name)
    setFaults({
      ...(nameFault === undefined ? {} : { name: nameFault }),
      ...(typeof cap === 'string' ? { cap } : {}),
    })
    if (nameFault === undefined && typeof cap !== 'string')
      return save.mutate({ name, ...(cap === undefined ? {} : { monthly_cap_brl: cap }) })
    const wrong = form.elements.namedItem(nameFault === undefined ? 'cap' : 'name')
    if (wrong instanceof HTMLElement) wrong.focus()
  }
  return (
    <form onSubmit={submit} onInput={() => setFaults({})} noValidate className="grid gap-5">
      <Field label={t('Nome')} hint={t('Como “Produto” ou “Agência Sul”.')} error={faults.name}>
        {(control) => (
          <Input
            {...control}
            name="name"
            autoComplete="off"
            maxLength={50}
            defaultValue={team?.name}
          />
        )}
      </Field>
      {isOwner && (
        <Field
          label={t('Limite por mês')}
          hint={t(
            'Ao chegar nele, as chamadas da equipe são recusadas até o dia 1º. Vazio: sem limite.',
          )}
          error={faults.cap}
        >
          {(control) => <AmountInput {...control} name="cap" defaultValue={capText(team)} />}
        </Field>
      )}
      <FormEnd
        error={save.error ? explainError(save.error) : undefined}
        submitLabel={team ? t('Salvar') : t('Criar equipe')}
        isBusy={save.isPending}
        onCancel={onClose}
      />
    </form>
  )
}

/** A new team has a cap until the owner removes it. */
function capText(team: Team | undefined): string {
  if (!team) return '100'
  return team.monthly_cap_brl === null ? '' : typedAmount(team.monthly_cap_brl)
}
