import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Choice } from '../../components/Choice.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { emailFault } from '../sign-in/email-fault.ts'
import { useTeamAct, type Role } from './team-queries.ts'
import { RANK_WORDS, ROLE_HINTS } from './team-words.ts'
import { t } from '../../language/t.ts'

interface InviteDialogProps {
  readonly teamId: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function InviteDialog({ teamId, isOpen, onClose }: InviteDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t('Convidar para a equipe')}
      description={t('Enviamos um e-mail. Quem ainda não tem conta cria uma com o mesmo endereço.')}
    >
      <InviteForm teamId={teamId} onClose={onClose} />
    </Dialog>
  )
}

function InviteForm({ teamId, onClose }: Omit<InviteDialogProps, 'isOpen'>) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [fault, setFault] = useState<string>()
  const invite = useTeamAct({
    act: (_input: void, once) =>
      api.post(
        '/me/teams/{id}/invitations',
        { email: email.trim(), role },
        { path: { id: teamId }, once },
      ),
    done: () => t('Convite enviado para {email}.', { email: email.trim() }),
    onDone: onClose,
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const wrong = emailFault(email)
    setFault(wrong)
    if (wrong === undefined) invite.mutate(undefined)
    else document.getElementById('convidado')?.focus()
  }
  return (
    <form onSubmit={submit} onInput={() => setFault(undefined)} noValidate className="grid gap-5">
      <Field label={t('E-mail')} error={fault} id="convidado">
        {(control) => (
          <Input
            {...control}
            type="email"
            autoComplete="off"
            maxLength={254}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Choice
        legend={t('Papel')}
        value={role}
        onChange={setRole}
        options={(['member', 'admin'] as const).map((value) => ({
          value,
          text: RANK_WORDS()[value].text,
          hint: ROLE_HINTS()[value],
        }))}
      />
      <FormEnd
        error={invite.error ? explainError(invite.error) : undefined}
        submitLabel={t('Enviar convite')}
        isBusy={invite.isPending}
        onCancel={onClose}
      />
    </form>
  )
}
