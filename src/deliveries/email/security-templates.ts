import { t } from '../../platform/lib/language.ts'
import type { Template } from './mail-content.ts'

/** Changes to the way a customer signs in. The mails never contain the credential itself. */
const ACTS = {
  'second_factor.enabled': {
    subject: 'Verificação em duas etapas ligada',
    text: 'A verificação em duas etapas foi ligada na sua conta: para entrar, além da senha ou do link por e-mail, é preciso informar um código do aplicativo.',
  },
  'second_factor.disabled': {
    subject: 'Verificação em duas etapas desligada',
    text: 'A verificação em duas etapas foi desligada na sua conta: para entrar basta a senha ou um link por e-mail.',
  },
  'second_factor.reset_requested': {
    subject: 'Pedido para desligar a verificação em duas etapas',
    text: 'Pediram ao atendimento que desligue a verificação em duas etapas da sua conta. Outra pessoa da equipe ainda precisa confirmar, em até 24 horas. Se foi você, não é preciso fazer mais nada.',
  },
  'second_factor.reset': {
    subject: 'Verificação em duas etapas desligada pelo atendimento',
    text: 'O atendimento desligou a verificação em duas etapas da sua conta, como foi pedido, e encerrou todas as sessões. Para entrar basta a senha ou um link por e-mail; depois, ligue-a de novo na página Segurança do painel.',
  },
  'backup_codes.renewed': {
    subject: 'Novos códigos de reserva',
    text: 'Novos códigos de reserva foram criados para a sua conta. Os anteriores não valem mais.',
  },
  'passkey.added': {
    subject: 'Chave de acesso adicionada',
    text: 'Uma chave de acesso (passkey) foi adicionada à sua conta. Quem a tem entra sem senha.',
  },
  'passkey.removed': {
    subject: 'Chave de acesso removida',
    text: 'Uma chave de acesso (passkey) foi removida da sua conta e não dá mais acesso a ela. As outras sessões foram encerradas.',
  },
  'provider.linked': {
    subject: 'Entrada por outra conta ligada',
    text: 'Uma conta sua em outro serviço, com este mesmo endereço de e-mail, foi ligada à sua conta aqui. Quem entra nela entra aqui sem senha.',
  },
  'provider.unlinked': {
    subject: 'Entrada por outra conta desligada',
    text: 'Uma conta sua em outro serviço foi desvinculada da sua conta aqui, e as outras sessões foram encerradas. Se alguém entrar por ela outra vez, e o endereço de e-mail dela for o seu, ela volta a ser vinculada, e avisamos de novo.',
  },
  'password.changed': {
    subject: 'Senha trocada',
    text: 'A senha da sua conta foi trocada, e as outras sessões foram encerradas.',
  },
  'session.ended': {
    subject: 'Sessão encerrada',
    text: 'Uma sessão do painel da sua conta foi encerrada a partir de outro dispositivo.',
  },
  'sessions.ended': {
    subject: 'Outras sessões encerradas',
    text: 'Todas as outras sessões do painel da sua conta foram encerradas.',
  },
}

export type SecurityAct = keyof typeof ACTS

export const SECURITY_TEMPLATES = {
  seguranca_da_conta: (data) => {
    const name = data.text('act') ?? ''
    const act = Object.hasOwn(ACTS, name) ? ACTS[name as SecurityAct] : undefined
    return {
      subject: t`Segurança da conta: ${t(act?.subject ?? 'algo mudou')}`,
      paragraphs: [act?.text ?? 'A forma de entrar na sua conta mudou.'],
      facts: [
        [name.startsWith('provider.') ? 'Serviço' : 'Chave de acesso', data.text('name')],
        ['Quando', data.time('at')],
        ['Endereço IP', data.text('ip')],
      ],
      closing: [
        'Se não foi você, troque a senha, encerre as outras sessões na página Segurança do painel e escreva para o contato no fim deste e-mail.',
      ],
    }
  },
} satisfies Record<string, Template>
